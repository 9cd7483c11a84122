// What the coordinator and the process of one payload tell each other.

import type { Effort, Timings } from '../pairs/interleave.ts'
import type { PayloadName } from './payloads.ts'

export interface CodecPlan {
  readonly payload: PayloadName
  readonly what: 'codecs' | 'compressions'
  readonly effort: Effort
}

export interface CodecResult {
  /** By what made them: a codec's name, or `<codec>, <algorithm>`. Mean of the variants. */
  readonly bytes: Readonly<Record<string, number>>
  /** By `sideName`. */
  readonly timings: Timings
  /** By name: why it could not be measured. */
  readonly problems: Readonly<Record<string, string>>
}

export type Operation = 'encode' | 'decode' | 'frozen' | 'compress' | 'decompress'

export const plainName = 'JSON.stringify, JSON.parse'
export const plainTextName = 'JSON.parse of a text in hand'
export const algorithms = ['gzip', 'brotli', 'zstd', 'lz4', 'snappy'] as const
export const compressed = ['msgpack()', 'json()'] as const

export function sideName(name: string, operation: Operation): string {
  return `${operation}: ${name}`
}
