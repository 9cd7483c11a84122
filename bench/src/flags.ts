// The command line: names of benchmarks and a few flags; unknown ones are refused with a sentence.

import { parseArgs } from 'node:util'

export interface Flags {
  readonly names: readonly string[]
  readonly quick: boolean
  readonly runs: number | undefined
  /** Requests per second. */
  readonly rate: number | undefined
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
      rate: { type: 'string' },
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
  const runs = readCount('--runs', values.runs, 1_000)
  const rate = readCount('--rate', values.rate, 100_000)
  return { names: positionals, quick, json, save, docs, help, runs, rate }
}

function readCount(flag: string, text: string | undefined, most: number): number | undefined {
  if (text === undefined) return undefined
  const count = Number(text)
  if (Number.isInteger(count) && count >= 1 && count <= most) return count
  throw new Error(`${flag}: expected a whole number from 1 to ${most}, got ${JSON.stringify(text)}`)
}
