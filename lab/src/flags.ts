// The command line: a few flags, unknown ones refused.

import { parseArgs } from 'node:util'

export interface Flags {
  readonly quick: boolean
  readonly json: boolean
  readonly check: boolean
  readonly help: boolean
  readonly out: string
}

export const help = `Usage: npm start -- [flags]

Runs a web shop of four processes on a real PostgreSQL under load, behind six caches in turn, then
breaks things while breakwater serves. Ends with a table and a report to open in a browser.

  --quick      shorter runs: about 20 s of load instead of about a minute
  --json       figures as JSON on stdout, and nothing else there
  --check      judge the figures; exit with 1 and a sentence if breakwater's promises do not hold
  --out FILE   where the report goes (default: report.html in the current directory)
  --help       this text

Environment:
  DATABASE_URL   a PostgreSQL to use, in a schema of its own (default: a private one)
  REDIS_URL      a Redis to use, with keys of its own (default: a private one)
`

/** Throws a sentence for a flag that there is not. */
export function readFlags(args: readonly string[]): Flags {
  const { values } = parseArgs({
    args: [...args],
    allowPositionals: false,
    options: {
      quick: { type: 'boolean', default: false },
      json: { type: 'boolean', default: false },
      check: { type: 'boolean', default: false },
      help: { type: 'boolean', short: 'h', default: false },
      out: { type: 'string', default: 'report.html' },
    },
  })
  return values
}
