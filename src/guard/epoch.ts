/**
 * One build of a shared filter: its size, its key for hashing, its tag. All of it is written down in
 * the record, so that a process whose options say otherwise still asks and adds as it was built.
 */
import { randomBytes, randomInt } from 'node:crypto'
import { planShards } from '../core/bloom-shards.ts'
import type { Geometry, Wanted } from '../core/bloom.ts'

export type EpochKind = 'bitmap' | 'bloom'

export interface Epoch extends Geometry, Wanted {
  /** 16 characters; part of its keys, so that no shard is ever taken for one of another epoch. */
  readonly id: string
  readonly kind: EpochKind
  /** Begins and ends each of its shards; never 0, which is what Redis reads where nothing is. */
  readonly tag: number
  /** Of the hash, as hexadecimals. */
  readonly key: string
  /** Run id of the server that it was built on; `''`: not known, or several. */
  readonly server: string
}

/** Of a shard that are not its bits: tag and count before them, the tag once more behind. */
export const headBits = 64
export const overheadBytes = 12

export function newEpoch(wanted: Wanted, kind: EpochKind, server: string): Epoch {
  const { shards, shardBits, hashes } = planShards(wanted, overheadBytes)
  return {
    id: randomBytes(12).toString('base64url'),
    kind,
    tag: randomInt(1, 2 ** 32),
    key: randomBytes(16).toString('hex'),
    server,
    capacity: wanted.capacity,
    errorRate: wanted.errorRate,
    shards,
    shardBits,
    hashes,
  }
}

export function shardBytes({ shardBits }: Geometry): number {
  return shardBits / 8 + overheadBytes
}

export function epochText(epoch: Epoch): string {
  return JSON.stringify({ version: 1, ...epoch })
}

/** `undefined`: of a version that this one does not know, or none of ours. */
export function readEpoch(text: string): Epoch | undefined {
  let read: Partial<Epoch & { version: number }>
  try {
    read = JSON.parse(text) as typeof read
  } catch {
    return undefined
  }
  const { version, id, kind, key, shards = 0, shardBits = 0, hashes = 0, tag = 0 } = read ?? {}
  const isOurs =
    version === 1 &&
    typeof id === 'string' &&
    (kind === 'bitmap' || kind === 'bloom') &&
    typeof key === 'string' &&
    /^[0-9a-f]{32}$/.test(key) &&
    [shards, shardBits, hashes, tag].every((n) => Number.isSafeInteger(n) && n > 0) &&
    shardBits % 8 === 0
  return isOurs ? (read as Epoch) : undefined
}

/** Keys of a guard by its name; each shard in a hash slot of its own, so that a cluster spreads them. */
export function recordKey(name: string): string {
  return `bw-guard:{${name}}`
}

/** There since it was built for the first time: without the record a sign that this was lost. */
export function builtKey(name: string): string {
  return `bw-guard:{${name}:built}`
}

export function shardKey(name: string, id: string, shard: number): string {
  return `bw-guard:{${name}:${id}:${shard}}`
}
