// Which Chromium the tests of the lab's page use, in this order: the program at BREAKWATER_CHROMIUM; one
// of the usual ones on this machine; one from the system's package manager, where that is allowed.
// Without any, these tests are skipped, except in CI, where they fail.

import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { installPrograms, troubleWith } from './install-programs.mjs'

const programs = ['chromium', 'chromium-browser', 'google-chrome-stable', 'google-chrome']
const usualPlaces = [
  ...programs.map((program) => join('/usr/bin', program)),
  '/snap/bin/chromium',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
  '/Applications/Chromium.app/Contents/MacOS/Chromium',
  'C:\\Program Files\\Google\\Chrome\\Application\\chrome.exe',
]

/**
 * @param {{ mayInstall: boolean }} options
 * @returns {Promise<{ program: string, missing?: string }>} `program`: the value for
 *   BREAKWATER_CHROMIUM, `none` where there is none; `missing`: what to do about it
 */
export async function provideChromium({ mayInstall }) {
  const chosen = process.env.BREAKWATER_CHROMIUM ?? ''
  if (chosen !== '') return { program: chosen }
  if (mayInstall && findChromium() === undefined) await installPrograms(['chromium'])
  const found = findChromium()
  if (found !== undefined) return { program: found }
  return {
    program: 'none',
    missing:
      `No Chromium was found: BREAKWATER_CHROMIUM is not set, and ${troubleWith('chromium')} ` +
      "The tests of the lab's live page are skipped. Install Chromium or Chrome, or set " +
      'BREAKWATER_CHROMIUM to its program, to run them.',
  }
}

/** Whether `provideChromium` will have to install one. */
export function lacksChromium() {
  return (process.env.BREAKWATER_CHROMIUM ?? '') === '' && findChromium() === undefined
}

/** @returns {string | undefined} */
function findChromium() {
  const folders = (process.env.PATH ?? '').split(delimiter).filter((folder) => folder !== '')
  const places = folders.flatMap((folder) => programs.map((program) => join(folder, program)))
  return [...places, ...usualPlaces].find((path) => existsSync(path) && works(path))
}

/** @param {string} path */
function works(path) {
  if (process.platform === 'win32') return true // Chrome does not answer there
  return spawnSync(path, ['--version'], { stdio: 'ignore', timeout: 20_000 }).status === 0
}
