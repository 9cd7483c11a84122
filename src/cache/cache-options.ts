/** The options that only a cache has: its tiers, its limits, its clock. Each checked by itself. */
import type { AdaptiveBounds } from '../core/adaptive-limit.ts'
import { byteSize } from '../core/byte-size.ts'
import { durationMs } from '../core/duration.ts'
import { BreakwaterError, invalidOption } from '../core/errors.ts'
import { longestTimerMs } from '../core/lifetime.ts'
import { port } from '../ports.ts'
import type { Clock, StorePort } from '../ports.ts'
import { adaptive, cacheDefaults } from './option-defaults.ts'
import { checkNames } from '../core/option-names.ts'
import type { Level } from '../core/option-names.ts'

export interface MemoryRules {
  readonly maxEntries: number
  readonly maxBytes: number
  readonly ttlMs: number | undefined
}

export interface LimitRules {
  /** A fixed number, or what it may become by itself. */
  readonly concurrency: number | AdaptiveBounds
  readonly queueMs: number
  readonly perSecond: number | undefined
}

export type WaitUntil = (work: Promise<unknown>) => void

const memoryLevel: Level = { names: new Set(['maxEntries', 'maxBytes', 'ttl']) }
const limitLevel: Level = { names: new Set(['concurrency', 'queue', 'perSecond']) }
const adaptiveLevel: Level = { names: new Set(['initial', 'min', 'max']) }

export function namespaceOf(given: unknown): string {
  if (typeof given === 'string' && /^[A-Za-z0-9._-]{1,64}$/.test(given)) return given
  throw invalidOption('namespace', '1 to 64 characters of A–Z, a–z, 0–9, dot, _ and -', given)
}

export function storeOf(given: unknown): StorePort | undefined {
  if (given === undefined) return undefined
  const made = given as Partial<StorePort> | null
  if (typeof made === 'object' && made?.[port] === 'store') return made as StorePort
  throw invalidOption('store', 'what redisStore({ client }) or memoryStore() give', given)
}

export function memoryRules(given: unknown): MemoryRules | undefined {
  if (given === false) return undefined
  if (given !== undefined && typeof given !== 'object') {
    throw invalidOption('memory', "false or an object such as '{ maxEntries: 10_000 }'", given)
  }
  const options = given === undefined ? {} : checkNames(given, memoryLevel, 'memory.')
  const {
    maxEntries = cacheDefaults.memory.maxEntries,
    maxBytes = cacheDefaults.memory.maxBytes,
    ttl,
  } = options
  return Object.freeze({
    maxEntries: count(maxEntries, 'memory.maxEntries'),
    maxBytes: byteSize(maxBytes, 'memory.maxBytes'),
    ttlMs: ttl === undefined ? undefined : durationMs(ttl, 'memory.ttl'),
  })
}

export function limitRules(given: unknown): LimitRules {
  const options = given === undefined ? {} : checkNames(given, limitLevel, 'limit.')
  const { concurrency = cacheDefaults.limit.concurrency, queue = cacheDefaults.limit.queue } =
    options
  return Object.freeze({
    concurrency: concurrencyOf(concurrency),
    queueMs: durationMs(queue, 'limit.queue', { allowZero: true }),
    perSecond: perSecondOf(options['perSecond']),
  })
}

function concurrencyOf(given: unknown): number | AdaptiveBounds {
  if (given === 'adaptive') return adaptive
  const option = 'limit.concurrency'
  if (typeof given !== 'object' || given === null) {
    return count(given, option, " or 'adaptive'")
  }
  const bounds = checkNames(given, adaptiveLevel, `${option}.`)
  const bound = (name: keyof AdaptiveBounds): number | undefined =>
    bounds[name] === undefined ? undefined : count(bounds[name], `${option}.${name}`)
  const [initial, min, max] = [bound('initial'), bound('min'), bound('max')]
  // What is not said gives way to what is.
  const low = min ?? Math.min(adaptive.min, initial ?? Infinity, max ?? Infinity)
  const high = max ?? Math.max(adaptive.max, initial ?? 0, low)
  const start = initial ?? Math.min(high, Math.max(low, adaptive.initial))
  if (low <= start && start <= high) return { initial: start, min: low, max: high }
  throw new BreakwaterError(
    'INVALID_OPTION',
    `${option}: expected min ≤ initial ≤ max, got ${low}, ${start} and ${high}`,
  )
}

function perSecondOf(given: unknown): number | undefined {
  if (given === undefined) return undefined
  if (typeof given === 'number' && given > 0 && given < Infinity) return given
  throw invalidOption('limit.perSecond', 'a number greater than 0', given)
}

function count(given: unknown, option: string, or = ''): number {
  if (typeof given === 'number' && Number.isSafeInteger(given) && given > 0) return given
  throw invalidOption(option, `a whole number greater than 0${or}`, given)
}

/** On the cache it says whether this process takes part; what is made ahead is each definition's to say. */
export function precomputeOf(given: unknown): boolean {
  if (given === undefined) return cacheDefaults.precompute
  if (typeof given === 'boolean') return given
  throw invalidOption(
    'precompute',
    'true or false; what is made ahead, and when, is an option of a definition',
    given,
  )
}

export function waitUntilOf(given: unknown): WaitUntil | undefined {
  if (given === undefined || typeof given === 'function') return given as WaitUntil | undefined
  throw invalidOption('waitUntil', 'a function', given)
}

export function clockOf(given: unknown, before: Clock): Clock {
  if (given === undefined) return before
  const clock = given as Partial<Clock> | null
  const whole = [clock?.now, clock?.random, clock?.after].every(
    (part) => typeof part === 'function',
  )
  if (whole) {
    const { now, random, after } = clock as Clock
    return {
      now: () => now.call(clock),
      random: () => random.call(clock),
      // A longer delay would fire at once in Node.
      after: (ms, run) => after.call(clock, Math.min(ms, longestTimerMs), run),
    }
  }
  throw new BreakwaterError(
    'INVALID_OPTION',
    'clock: expected an object with now(), random() and after(ms, run), such as manualClock() gives',
  )
}
