/**
 * Options to rules: once, when the cache or the definition is made, so that nothing later has to
 * wonder whether a ttl is a number. Everything wrong is refused here with a sentence; what the user
 * gave is read, never changed and never kept. How one entry lives is in entry-rules.ts.
 */
import type { Call, CacheOptions, Definition, EntryOptions } from '../api.ts'
import { byteSize } from '../core/byte-size.ts'
import { durationMs } from '../core/duration.ts'
import { BreakwaterError, invalidOption } from '../core/errors.ts'
import { port } from '../ports.ts'
import type { Clock, CodecPort, StorePort } from '../ports.ts'
import { aBoolean, derive, entryDefaultNames, entryNames } from './entry-rules.ts'
import { layOver, statedDefaults } from './entry-rules.ts'
import type { EntryRules } from './entry-rules.ts'
import { adaptiveConcurrency, cacheDefaults } from './option-defaults.ts'
import { checkNames } from './option-names.ts'
import type { Given, Level } from './option-names.ts'

export type { EntryRules } from './entry-rules.ts'

export interface CacheRules {
  readonly namespace: string
  readonly store: StorePort | undefined
  readonly memory: MemoryRules | undefined
  readonly limit: LimitRules
  readonly storeTimeoutMs: number
  readonly connectTimeoutMs: number
  readonly outageTtlMs: number
  readonly enabled: boolean
  readonly waitUntil: ((work: Promise<unknown>) => void) | undefined
  readonly clock: Clock
  readonly entry: EntryRules
}

export interface MemoryRules {
  readonly maxEntries: number
  readonly maxBytes: number
  readonly ttlMs: number | undefined
}

export interface LimitRules {
  readonly concurrency: number
  readonly queueMs: number
}

export interface ResolvedDefinition {
  readonly definition: {
    readonly name: string
    readonly load: Definition<unknown, unknown>['load']
    readonly key: ((arg: unknown) => unknown) | undefined
    readonly version: string | number | undefined
  }
  readonly rules: EntryRules
}

export interface ResolvedCall {
  readonly signal: AbortSignal | undefined
  readonly timeoutMs: number | undefined
  readonly maxAgeMs: number | undefined
}

const ofCaches = [
  'namespace',
  'store',
  'storeTimeout',
  'connectTimeout',
  'outageTtl',
  'memory',
  'limit',
  'enabled',
  'waitUntil',
  'clock',
]
const ofDefinitions = ['name', 'load', 'key', 'version']
const ofCalls = ['signal', 'timeout', 'maxAge']

const cacheLevel: Level = {
  names: new Set([...ofCaches, ...entryDefaultNames, 'compress']),
  later: new Set(['precompute']),
  elsewhere: {
    names: new Set([...entryNames, ...ofDefinitions, 'tags']),
    where: 'a definition, not of the cache',
  },
}
const onlyOfCaches = {
  names: new Set(ofCaches),
  where: 'createCache, not of a single definition or call',
}
const entryLevel: Level = {
  names: new Set(entryNames),
  later: new Set(['tags']),
  elsewhere: onlyOfCaches,
}
const definitionLevel: Level = {
  names: new Set([...ofDefinitions, ...entryNames]),
  later: new Set(['tags', 'loadMany', 'schema', 'guard', 'precompute']),
  elsewhere: onlyOfCaches,
}
const memoryLevel: Level = { names: new Set(['maxEntries', 'maxBytes', 'ttl']) }
const limitLevel: Level = {
  names: new Set(['concurrency', 'queue']),
  later: new Set(['perSecond']),
}
const callLevel: Level = { names: new Set(ofCalls) }

export function resolveCacheOptions(
  options: CacheOptions,
  environment: { readonly codec: CodecPort; readonly clock: Clock },
): CacheRules {
  const given = checkNames(options, cacheLevel, '')
  if (given['ttl'] === undefined) {
    throw invalidOption('ttl', "a duration such as '60s': how long an entry is fresh", given['ttl'])
  }
  // The cache's own `memory` and `store` are tiers, a definition's are yes or no.
  const { memory, store, ...defaults } = given
  const duration = (name: keyof typeof cacheDefaults, allowZero: boolean): number =>
    durationMs(given[name] === undefined ? cacheDefaults[name] : given[name], name, { allowZero })
  return Object.freeze({
    namespace: namespaceOf(given['namespace']),
    store: storeOf(store),
    memory: memoryRules(memory),
    limit: limitRules(given['limit']),
    storeTimeoutMs: duration('storeTimeout', false),
    connectTimeoutMs: duration('connectTimeout', true),
    outageTtlMs: duration('outageTtl', true),
    enabled: aBoolean(given['enabled'], cacheDefaults.enabled, 'enabled'),
    waitUntil: waitUntilOf(given['waitUntil']),
    clock: clockOf(given['clock'], environment.clock),
    entry: derive(layOver(statedDefaults(environment.codec), defaults, ''), defaults, ''),
  })
}

/** `where` names the call or definition in messages. Without options: `base` itself. */
export function resolveEntry(
  base: EntryRules,
  options: EntryOptions<never, never> | EntryOptions<unknown, unknown>,
  where: string,
): EntryRules {
  const prefix = `${where}.`
  const given = checkNames(options, entryLevel, prefix)
  return isEmpty(given) ? base : derive(layOver(base.stated, given, prefix), given, prefix)
}

export function resolveDefinition(
  base: EntryRules,
  definition: Definition<unknown, unknown>,
): ResolvedDefinition {
  const name = nameOf(definition)
  const prefix = `${name}.`
  const given = checkNames(definition, definitionLevel, prefix)
  const { load, key, version } = given
  if (typeof load !== 'function') throw invalidOption(`${prefix}load`, 'a function', load)
  if (key !== undefined && typeof key !== 'function') {
    throw invalidOption(`${prefix}key`, 'a function of the argument', key)
  }
  // As methods of the user's object, which may use `this`.
  return {
    definition: {
      name,
      load: load.bind(definition) as Definition<unknown, unknown>['load'],
      key: key?.bind(definition) as ((arg: unknown) => unknown) | undefined,
      version: versionOf(version, prefix),
    },
    rules: derive(layOver(base.stated, given, prefix), given, prefix),
  }
}

/** Nothing asked for: `undefined`, at the price of a loop over nothing. */
export function resolveCall(call: Call | undefined): ResolvedCall | undefined {
  if (call === undefined) return undefined
  const { signal, timeout, maxAge } = checkNames(call, callLevel, 'call.')
  if (signal === undefined && timeout === undefined && maxAge === undefined) return undefined
  if (signal !== undefined && !isSignal(signal)) {
    throw invalidOption('call.signal', 'an AbortSignal', signal)
  }
  const asked = { allowZero: true }
  return {
    signal,
    timeoutMs: timeout === undefined ? undefined : durationMs(timeout, 'call.timeout', asked),
    maxAgeMs: maxAge === undefined ? undefined : durationMs(maxAge, 'call.maxAge', asked),
  }
}

function isEmpty(given: Given): boolean {
  for (const name in given) if (given[name] !== undefined) return false
  return true
}

function isSignal(given: unknown): given is AbortSignal {
  // Not instanceof: polyfills and other realms have signals too.
  return typeof given === 'object' && given !== null && 'aborted' in given && 'onabort' in given
}

function namespaceOf(given: unknown): string {
  if (typeof given === 'string' && /^[A-Za-z0-9._-]{1,64}$/.test(given)) return given
  throw invalidOption('namespace', '1 to 64 characters of A–Z, a–z, 0–9, dot, _ and -', given)
}

function nameOf(definition: unknown): string {
  if (typeof definition !== 'object' || definition === null) {
    throw invalidOption('definition', 'an object', definition)
  }
  const { name } = definition as { name?: unknown }
  if (typeof name === 'string' && name.length > 0 && name.length <= 128) return name
  throw invalidOption('name', 'text of 1 to 128 characters', name)
}

function versionOf(given: unknown, prefix: string): string | number | undefined {
  if (given === undefined || typeof given === 'string') return given
  if (typeof given === 'number' && Number.isFinite(given)) return given
  throw invalidOption(`${prefix}version`, 'text or a number', given)
}

function storeOf(given: unknown): StorePort | undefined {
  if (given === undefined) return undefined
  const made = given as Partial<StorePort> | null
  if (typeof made === 'object' && made?.[port] === 'store') return made as StorePort
  throw invalidOption('store', 'what redisStore({ client }) or memoryStore() give', given)
}

function memoryRules(given: unknown): MemoryRules | undefined {
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

function limitRules(given: unknown): LimitRules {
  const options = given === undefined ? {} : checkNames(given, limitLevel, 'limit.')
  const { concurrency = cacheDefaults.limit.concurrency, queue = cacheDefaults.limit.queue } =
    options
  return Object.freeze({
    concurrency:
      concurrency === 'adaptive'
        ? adaptiveConcurrency
        : count(concurrency, 'limit.concurrency', " or 'adaptive'"),
    queueMs: durationMs(queue, 'limit.queue', { allowZero: true }),
  })
}

function count(given: unknown, option: string, or = ''): number {
  if (typeof given === 'number' && Number.isSafeInteger(given) && given > 0) return given
  throw invalidOption(option, `a whole number greater than 0${or}`, given)
}

function waitUntilOf(given: unknown): CacheRules['waitUntil'] {
  if (given === undefined || typeof given === 'function') return given as CacheRules['waitUntil']
  throw invalidOption('waitUntil', 'a function', given)
}

function clockOf(given: unknown, before: Clock): Clock {
  if (given === undefined) return before
  const clock = given as Partial<Clock> | null
  const whole = [clock?.now, clock?.random, clock?.after].every(
    (part) => typeof part === 'function',
  )
  if (whole) return clock as Clock
  throw new BreakwaterError(
    'INVALID_OPTION',
    'clock: expected an object with now(), random() and after(ms, run), such as manualClock() gives',
  )
}
