/**
 * `breakwater/guard`: what may exist. A guard refuses ids that were never added to it before anything
 * is loaded for them. "Maybe" is the answer to everything that is not certain.
 */
import type { Guard } from '../ports.ts'
import { systemClock } from '../system-clock.ts'
import type { GuardInfo } from './guard-info.ts'
import { memoryOptions, redisOptions } from './guard-options.ts'
import { MemoryGuard } from './memory-guard.ts'
import type { MemoryGuardOptions, RedisGuardOptions } from './option-types.ts'
import { usualPace } from './pace.ts'
import { RedisGuard } from './redis-guard.ts'

export type { Guard } from '../ports.ts'
export type { GuardInfo } from './guard-info.ts'
export type { MemoryGuardOptions, RedisGuardOptions } from './option-types.ts'

/** A guard that tells of itself. */
export interface InformedGuard<in Arg> extends Guard<Arg> {
  /** As of now, without asking anybody. */
  info(): GuardInfo
}

/**
 * A Bloom filter (Bloom 1970) in this process, about −n·ln p / (ln 2)² bits: 1.2 MB for 1,000,000 ids
 * at 1 %. Refuses nothing until the first `add`, `addMany` or `rebuild` is done. SipHash with a
 * random key, so that nobody outside can make ids that are taken for others; enhanced double hashing
 * (Kirsch & Mitzenmacher 2006; Dillinger & Manolios 2004).
 *
 * @throws BreakwaterError `INVALID_OPTION`. Its methods reject with `INVALID_KEY` for what has no key,
 * with what the given iterable throws, and never else.
 */
export function memoryGuard<Arg = string>(options: MemoryGuardOptions<Arg>): InformedGuard<Arg> {
  return new MemoryGuard<Arg>(memoryOptions(options))
}

/** A guard that processes share. */
export interface SharedGuard<in Arg> extends InformedGuard<Arg> {
  /** Ends what it opened itself, never the user's client. From then on it refuses nothing. Idempotent. */
  close(): Promise<void>
}

/**
 * A Bloom filter in Redis, the same for all processes that give it the same name: as plain bitmaps,
 * or as filters of the server's Bloom module where it has one (and `replica` is not asked for).
 * `rebuild` makes it, and so does the first `addMany` where there is no trace of one; an `add` alone
 * does not, since a filter that is absent may be a lost one. Whatever is unknown, lost, evicted, half
 * built or too late means "maybe". An `add` is done when Redis has it (RTT: 1). Keeps no process
 * alive. References: those of `memoryGuard`.
 *
 * @throws BreakwaterError `INVALID_OPTION`. `add` and `addMany` reject with `STORE_UNAVAILABLE` when
 * Redis has not taken what was added within 2 s (it is kept, tried again, and let through here);
 * `rebuild` when what it built is not whole, and then what was in force before stays. All reject with
 * `INVALID_KEY` for what has no key, `CLOSED` after `close`, and with what the given iterable throws.
 */
export function redisGuard<Arg = string>(options: RedisGuardOptions<Arg>): SharedGuard<Arg> {
  return new RedisGuard<Arg>(redisOptions(options), systemClock, usualPace)
}
