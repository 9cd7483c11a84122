// Where the Prometheus is that the tests of the metrics, the board and the alert rules use, in this
// order: the folder of programs at BREAKWATER_PROMETHEUS_BIN; one on this machine; one from the system's
// package manager, where that is allowed. Without any, these tests are skipped, except in CI, where
// they fail.

import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { installPrograms, troubleWith } from './install-programs.mjs'

const usualFolders = ['/usr/bin', '/usr/local/bin', '/opt/homebrew/bin']

/**
 * @param {{ mayInstall: boolean }} options
 * @returns {Promise<{ folder: string, missing?: string }>} `folder`: the value for
 *   BREAKWATER_PROMETHEUS_BIN, `none` where there is none; `missing`: what to do about it
 */
export async function providePrometheus({ mayInstall }) {
  const chosen = process.env.BREAKWATER_PROMETHEUS_BIN ?? ''
  if (chosen !== '') return { folder: chosen }
  if (mayInstall && findPrometheus() === undefined) await installPrograms(['prometheus'])
  const found = findPrometheus()
  if (found !== undefined) return { folder: found }
  return {
    folder: 'none',
    missing:
      `No Prometheus was found: prometheus and promtool are not on the PATH, and ${troubleWith('prometheus')} ` +
      'The tests that need one are skipped. Install Prometheus (on Debian the package prometheus), or set ' +
      'BREAKWATER_PROMETHEUS_BIN to the folder of its programs, to run them.',
  }
}

/** Whether `providePrometheus` will have to install one. */
export function lacksPrometheus() {
  return (process.env.BREAKWATER_PROMETHEUS_BIN ?? '') === '' && findPrometheus() === undefined
}

/** @returns {string | undefined} */
function findPrometheus() {
  const folders = (process.env.PATH ?? '').split(delimiter).filter((folder) => folder !== '')
  return [...folders, ...usualFolders].find((folder) =>
    ['prometheus', 'promtool'].every((program) => works(join(folder, program))),
  )
}

/** @param {string} path */
function works(path) {
  if (!existsSync(path)) return false
  return spawnSync(path, ['--version'], { stdio: 'ignore', timeout: 20_000 }).status === 0
}
