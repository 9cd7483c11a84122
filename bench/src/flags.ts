// The command line: names of benchmarks and a few flags; unknown ones are refused with a sentence.

import { parseArgs } from 'node:util'

export interface Flags {
  readonly names: readonly string[]
  readonly quick: boolean
  readonly runs: number | undefined
  readonly json: boolean
  readonly save: boolean
  readonly docs: 'write' | 'check' | undefined
  readonly help: boolean
}

export function readFlags(args: readonly string[]): Flags {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      quick: { type: 'boolean', default: false },
      runs: { type: 'string' },
      json: { type: 'boolean', default: false },
      save: { type: 'boolean', default: false },
      docs: { type: 'boolean', default: false },
      'check-docs': { type: 'boolean', default: false },
      help: { type: 'boolean', short: 'h', default: false },
    },
  })
  const { quick, json, save, help } = values
  if (quick && save) throw new Error('--save: expected a whole run to keep, got --quick with it')
  const docs = values['check-docs'] ? 'check' : values.docs ? 'write' : undefined
  return { names: positionals, quick, json, save, docs, help, runs: readRuns(values.runs) }
}

function readRuns(text: string | undefined): number | undefined {
  if (text === undefined) return undefined
  const runs = Number(text)
  if (Number.isInteger(runs) && runs >= 1 && runs <= 1_000) return runs
  throw new Error(`--runs: expected a whole number from 1 to 1000, got ${JSON.stringify(text)}`)
}
