// The way of a frame through the engine, without a store: packed by some rules, unpacked by others.

import { makeEngine } from '../../src/cache/make-engine.ts'
import { sourceOf } from '../../src/cache/engine.ts'
import { resolveCacheOptions, resolveEntry } from '../../src/cache/options.ts'
import { packed } from '../../src/cache/pack.ts'
import { unpack, type Unpacked, type Unread } from '../../src/cache/unpack.ts'
import { frameOf } from '../../src/cache/values.ts'
import { jsonCodec } from '../../src/codecs/json.ts'
import { messagePack } from '../../src/codecs/msgpack.ts'
import { compressions } from '../../src/compression/compressions.ts'
import { newCounters } from '../../src/core/events.ts'
import type { Head } from '../../src/core/head.ts'
import type { EntryOptions } from '../../src/index.ts'
import { lruMemory } from '../../src/memory/lru-memory.ts'
import { refreshAhead } from '../../src/refresh/ahead.ts'
import { manualClock } from '../../src/testing/index.ts'
import { slices, turn } from '../../src/turns.ts'

export const plainHead: Head = {
  stamp: 'AAAAAAAAAAAAAAAAAAAA_-',
  startedAt: 1_700_000_000_000,
  storedAt: 1_700_000_000_250,
  freshUntil: 1_700_000_060_250,
  staleWhileRevalidateMs: 30_000,
  staleIfErrorMs: 0,
  deltaMs: 250,
  asOf: 0,
  negative: false,
  uncacheable: undefined,
  tags: ['a', 'b'],
  meta: undefined,
}

const environment = {
  clock: manualClock(),
  codecs: [messagePack, jsonCodec],
  compressions,
  turn,
  slices,
  newId: () => 'x'.repeat(14),
  process: { pid: 1, host: 'test' },
  memory: lruMemory,
  ahead: refreshAhead,
}
const rules = resolveCacheOptions({ namespace: 'test', ttl: '60s' }, environment)
const engine = makeEngine(rules, environment)

export type Options = EntryOptions<unknown, any>

/** By an entry's options; all frames are of the key `key` in the namespace `test`. */
export function unpacking(options: Options) {
  const entry = resolveEntry(rules.entry, options, 'test')
  const source = sourceOf('item', entry, newCounters())
  return {
    async frame(value: unknown): Promise<Uint8Array> {
      return frameOf(plainHead, await packed(engine, entry, 'key', entry.codec.encode(value)))
    },
    /** A promise for frames that say they are big. */
    read(bytes: Uint8Array): Unpacked | Unread | Promise<Unpacked | Unread> {
      return unpack(engine, source, { key: 'key', bytes, known: undefined })
    },
  }
}
