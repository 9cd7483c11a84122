/** The composition root: which codec, clock and memory a cache is made of unless told otherwise. */
import { hostname } from 'node:os'
import { makeCache } from './cache/create-cache.ts'
import { systemClock } from './system-clock.ts'
import { jsonCodec } from './codecs/json.ts'
import { messagePack } from './codecs/msgpack.ts'
import { compressions } from './compression/compressions.ts'
import { lruMemory } from './memory/lru-memory.ts'
import type { Cache, CacheOptions } from './api.ts'
import { newId } from './new-id.ts'
import { refreshAhead } from './refresh/ahead.ts'
import { slices, turn } from './turns.ts'

/**
 * Makes a cache. Throws `INVALID_OPTION` for every option that is wrong, with a sentence that names
 * it. Make it once per process and close it at the end.
 */
export function createCache(options: CacheOptions): Cache {
  return makeCache(options, {
    clock: systemClock,
    codecs: [messagePack, jsonCodec],
    compressions,
    turn,
    slices,
    newId,
    process: { pid: process.pid, host: hostname() },
    memory: lruMemory,
    ahead: refreshAhead,
  })
}

export { defineCodec, type OwnCodec } from './codecs/own.ts'
export { parseDuration } from './core/duration.ts'
export { BreakwaterError, type ErrorCode } from './core/errors.ts'
export type {
  CacheEvents,
  Counters,
  LoadReason,
  LoadTrace,
  Outcome,
  RefreshAlert,
  StaleCause,
  Unleased,
} from './core/events.ts'
export type { Mode } from './core/modes.ts'
export type { Clock, Codec, Guard, Store } from './ports.ts'
export type {
  Alerts,
  Args,
  Awaitable,
  BatchContext,
  Bytes,
  Cache,
  CacheOptions,
  Call,
  CompressionName,
  Definition,
  Duration,
  EntryContext,
  EntryDefaults,
  EntryOptions,
  GuardFor,
  Health,
  InvalidateOptions,
  Keyed,
  LoadContext,
  LoadOnce,
  Lookup,
  Many,
  Peek,
  Precompute,
  Resource,
  Stored,
} from './api.ts'
