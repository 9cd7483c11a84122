// The command line: names of benchmarks and a few flags; unknown ones are refused with a sentence.

import { parseArgs } from 'node:util'

export interface Flags {
  readonly names: readonly string[]
  readonly runs: number | undefined
  readonly json: boolean
  readonly help: boolean
}

export function readFlags(args: readonly string[]): Flags {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      runs: { type: 'string' },
      json: { type: 'boolean', default: false },
      help: { type: 'boolean', short: 'h', default: false },
    },
  })
  return { names: positionals, json: values.json, help: values.help, runs: readRuns(values.runs) }
}

function readRuns(text: string | undefined): number | undefined {
  if (text === undefined) return undefined
  const runs = Number(text)
  if (Number.isInteger(runs) && runs >= 1 && runs <= 1_000) return runs
  throw new Error(`--runs: expected a whole number from 1 to 1000, got ${JSON.stringify(text)}`)
}
