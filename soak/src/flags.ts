// The command line; what it cannot mean is refused with a sentence.

import { parseArgs } from 'node:util'
import type { Client } from './messages.ts'

export interface Flags {
  readonly minutes: number
  readonly seed: number
  readonly client: Client | 'both'
  readonly perSecond: number
  readonly help: boolean
}

export function readFlags(args: readonly string[]): Flags {
  const { values } = parseArgs({
    args: [...args],
    options: {
      minutes: { type: 'string', default: '3' },
      seed: { type: 'string' },
      client: { type: 'string', default: 'both' },
      rate: { type: 'string', default: '200' },
      help: { type: 'boolean', short: 'h', default: false },
    },
  })
  const { client } = values
  if (client !== 'both' && client !== 'ioredis' && client !== 'node-redis') {
    throw new Error(`--client: expected ioredis, node-redis or both, got ${JSON.stringify(client)}`)
  }
  return {
    client,
    minutes: numberOf('--minutes', values.minutes, 0.1, 600),
    perSecond: numberOf('--rate', values.rate, 1, 10_000),
    seed: numberOf('--seed', values.seed ?? String(Date.now() % 1_000_000), 0, 2 ** 31),
    help: values.help,
  }
}

function numberOf(flag: string, text: string, least: number, most: number): number {
  const value = Number(text)
  if (text !== '' && value >= least && value <= most) return value
  throw new Error(
    `${flag}: expected a number from ${least} to ${most}, got ${JSON.stringify(text)}`,
  )
}
