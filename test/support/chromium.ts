// A headless Chromium for the tests of the lab's page. `npm test` provides one and names it in
// BREAKWATER_CHROMIUM; where there is none the tests are skipped, in CI they fail.

import { existsSync } from 'node:fs'
import { type Browser, chromium } from 'playwright-core'

const usual = [
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
]

const chosen = process.env['BREAKWATER_CHROMIUM'] ?? ''
const program = chosen === '' ? usual.find(existsSync) : chosen === 'none' ? undefined : chosen
const isCi = (process.env['CI'] ?? process.env['BREAKWATER_CI'] ?? '') !== ''

/** Why tests of the page cannot run here; in CI they do, and fail. */
export const noChromium =
  program === undefined && !isCi ? 'no Chromium: set BREAKWATER_CHROMIUM to its program' : undefined

export async function launchChromium(): Promise<Browser> {
  if (program === undefined) throw new Error('expected a Chromium in CI, found none')
  return chromium.launch({
    executablePath: program,
    args: [
      '--headless',
      '--no-sandbox', // tests may run as root
      '--disable-gpu',
      '--disable-quic',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
    ],
  })
}
