// The command line: a few flags, unknown ones and contradictions refused.

import { parseArgs } from 'node:util'

export interface Flags {
  readonly quick: boolean
  readonly json: boolean
  readonly check: boolean
  readonly play: boolean
  readonly help: boolean
  readonly out: string
  readonly live: boolean
  /** Whether a browser may be opened. */
  readonly open: boolean
  /** Of the live page; 0: any that is free. */
  readonly port: number
}

export const help = `Usage: npm start -- [flags]

Runs a web shop of four processes on a real PostgreSQL under load, behind six caches in turn, then
breaks things while breakwater serves. A local page shows it while it happens; its address is
printed. Ends with a table and a report to open in a browser.

  --quick      shorter runs: about 20 s of load instead of about a minute
  --play       no contenders: breakwater under load until Ctrl-C, to kill and freeze things by hand
  --json       figures as JSON on stdout, and nothing else there
  --check      judge the figures; exit with 1 and a sentence if breakwater's promises do not hold
  --out FILE   where the report goes (default: report.html in the current directory)
  --no-live    no live page
  --no-open    do not open a browser for it (nor does BROWSER=none, CI, or a run without a desktop)
  --port N     the page's port on the loopback (default: any that is free)
  --help       this text

Environment:
  DATABASE_URL   a PostgreSQL to use, in a schema of its own (default: a private one)
  REDIS_URL      a Redis to use, with keys of its own (default: a private one)
`

/** Throws a sentence for a flag that there is not, or that makes no sense. */
export function readFlags(args: readonly string[]): Flags {
  const { values } = parseArgs({
    args: [...args],
    allowPositionals: false,
    options: {
      quick: { type: 'boolean', default: false },
      play: { type: 'boolean', default: false },
      json: { type: 'boolean', default: false },
      check: { type: 'boolean', default: false },
      help: { type: 'boolean', short: 'h', default: false },
      out: { type: 'string', default: 'report.html' },
      'no-live': { type: 'boolean', default: false },
      'no-open': { type: 'boolean', default: false },
      port: { type: 'string', default: '0' },
    },
  })
  const { 'no-live': noLive, 'no-open': noOpen, port, ...rest } = values
  if (!/^\d{1,5}$/.test(port) || Number(port) > 65_535) {
    throw new Error(`expected --port to be a number up to 65535, got "${port}"`)
  }
  if (rest.play && (rest.json || rest.check)) {
    throw new Error('expected --play alone: it measures nothing that --json or --check could tell')
  }
  if (rest.play && noLive) {
    throw new Error('expected --play with its page, got --no-live: the buttons are on the page')
  }
  const isForMachines = rest.json || rest.check
  return { ...rest, live: !noLive, open: !noOpen && !isForMachines, port: Number(port) }
}
