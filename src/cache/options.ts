/**
 * Options to rules: once, when the cache or the definition is made, so that nothing later has to
 * wonder whether a ttl is a number. Everything wrong is refused here with a sentence; what the user
 * gave is read, never changed and never kept. How one entry lives is in entry-rules.ts.
 */
import type { Call, CacheOptions, Definition, Duration, EntryOptions } from '../api.ts'
import { eventNames } from '../core/events.ts'
import { durationMs } from '../core/duration.ts'
import { invalidOption } from '../core/errors.ts'
import { longestTimerMs } from '../core/lifetime.ts'
import { port } from '../ports.ts'
import type { Clock, CodecPort, Compressions, GuardPort, StorePort } from '../ports.ts'
import type { Schema } from '../core/conform.ts'
import { aBoolean, derive, entryDefaultNames, entryNames } from './entry-rules.ts'
import { layOver, statedDefaults } from './entry-rules.ts'
import type { EntryRules } from './entry-rules.ts'
import {
  clockOf,
  limitRules,
  memoryRules,
  namespaceOf,
  precomputeOf,
  storeOf,
  waitUntilOf,
} from './cache-options.ts'
import type { LimitRules, MemoryRules, WaitUntil } from './cache-options.ts'
import { resolvePrecompute, underPrecompute, type CronSchedule } from './precompute-rules.ts'
import { cacheDefaults } from './option-defaults.ts'
import { checkNames } from '../core/option-names.ts'
import type { Level } from '../core/option-names.ts'

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
  /** Does this process take part in making values ahead? */
  readonly precompute: boolean
  readonly waitUntil: WaitUntil | undefined
  readonly clock: Clock
  readonly entry: EntryRules
}

export interface ResolvedDefinition {
  readonly definition: {
    readonly name: string
    readonly load: Definition<unknown, unknown>['load']
    readonly loadMany: NonNullable<Definition<unknown, unknown>['loadMany']> | undefined
    readonly key: ((arg: unknown) => unknown) | undefined
    readonly version: string | number | undefined
  }
  readonly guard: GuardPort | undefined
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
  'precompute',
  'waitUntil',
  'clock',
]
const ofDefinitions = [
  'name',
  'load',
  'loadMany',
  'key',
  'version',
  'schema',
  'guard',
  'precompute',
]
const ofCalls = ['signal', 'timeout', 'maxAge']

const cacheLevel: Level = {
  names: new Set([...ofCaches, ...entryDefaultNames]),
  elsewhere: {
    names: new Set([...entryNames, ...ofDefinitions]),
    where: 'a definition, not of the cache',
  },
}
const onlyOfCaches = {
  names: new Set(ofCaches),
  where: 'createCache, not of a single definition or call',
}
const entryLevel: Level = {
  names: new Set(entryNames),
  elsewhere: onlyOfCaches,
}
const definitionLevel: Level = {
  names: new Set([...ofDefinitions, ...entryNames]),
  elsewhere: onlyOfCaches,
}
const callLevel: Level = { names: new Set(ofCalls) }

export function resolveCacheOptions(
  options: CacheOptions,
  environment: {
    readonly codecs: readonly CodecPort[]
    readonly compressions: Compressions
    readonly clock: Clock
  },
): CacheRules {
  const given = checkNames(options, cacheLevel, '')
  if (given['ttl'] === undefined) {
    throw invalidOption('ttl', "a duration such as '60s': how long an entry is fresh", given['ttl'])
  }
  // The cache's own `memory` and `store` are tiers, a definition's are yes or no.
  const { memory, store, ...defaults } = given
  const duration = (name: keyof typeof cacheDefaults, allowZero: boolean): number =>
    durationMs(given[name] === undefined ? cacheDefaults[name] : given[name], name, { allowZero })
  const stated = statedDefaults(environment.codecs[0]!, environment.compressions)
  return Object.freeze({
    namespace: namespaceOf(given['namespace']),
    store: storeOf(store),
    memory: memoryRules(memory),
    limit: limitRules(given['limit']),
    storeTimeoutMs: duration('storeTimeout', false),
    connectTimeoutMs: duration('connectTimeout', true),
    outageTtlMs: duration('outageTtl', true),
    enabled: aBoolean(given['enabled'], cacheDefaults.enabled, 'enabled'),
    precompute: precomputeOf(given['precompute']),
    waitUntil: waitUntilOf(given['waitUntil']),
    clock: clockOf(given['clock'], environment.clock),
    entry: derive(layOver(stated, defaults, ''), defaults, ''),
  })
}

/** Per base: what the options of one-off calls came to. Such calls repeat the same few. */
const resolved = new WeakMap<EntryRules, Map<string, EntryRules>>()
const mostResolved = 100

/** `where` names the call or definition in messages. Without options: `base` itself. */
export function resolveEntry(
  base: EntryRules,
  options: EntryOptions<never, never> | EntryOptions<unknown, unknown>,
  where: string,
): EntryRules {
  const spelling = spellingOf(options)
  if (spelling === '') return base
  const known = spelling === undefined ? undefined : resolved.get(base)?.get(spelling)
  if (known !== undefined) return known
  const prefix = `${where}.`
  const given = checkNames(options, entryLevel, prefix)
  const rules = derive(layOver(base.stated, given, prefix), given, prefix)
  if (spelling !== undefined) remember(base, spelling, rules)
  return rules
}

/** The same for the same options; `''` for none; `undefined` when there is more than words and numbers. */
function spellingOf(options: unknown): string | undefined {
  if (typeof options !== 'object' || options === null || Array.isArray(options)) return undefined
  let spelling = ''
  for (const name in options) {
    const option: unknown = options[name as never]
    if (option === undefined) continue
    if (typeof option === 'string') spelling += `${name}='${option}';`
    else if (typeof option === 'number' || typeof option === 'boolean')
      spelling += `${name}=${option};`
    else return undefined
  }
  // Getters of a class are not enumerable: nothing was seen, but something may be there.
  return spelling === '' && Object.getPrototypeOf(options) !== Object.prototype
    ? undefined
    : spelling
}

function remember(base: EntryRules, spelling: string, rules: EntryRules): void {
  let known = resolved.get(base)
  if (known === undefined || known.size >= mostResolved) resolved.set(base, (known = new Map()))
  known.set(spelling, rules)
}

const oneOffLevel: Level = {
  names: new Set([...entryLevel.names, ...ofCalls]),
  elsewhere: onlyOfCaches,
}

/** Options of one call: how its entry lives, and what the call itself wants. */
export function resolveOneOff(
  base: EntryRules,
  options: unknown,
): { readonly rules: EntryRules; readonly call: ResolvedCall | undefined } {
  if (options === undefined) return { rules: base, call: undefined }
  const { signal, timeout, maxAge, ...entry } = checkNames(options, oneOffLevel, '')
  return {
    rules: resolveEntry(base, entry as EntryOptions<unknown, unknown>, 'getOrLoad'),
    call: resolveCall({ signal, timeout, maxAge } as Call),
  }
}

export function resolveDefinition(
  base: EntryRules,
  definition: Definition<unknown, unknown>,
  cron: CronSchedule,
): ResolvedDefinition {
  const name = nameOf(definition)
  const prefix = `${name}.`
  const given = checkNames(definition, definitionLevel, prefix)
  const { load, loadMany, key, version } = given
  if (typeof load !== 'function') throw invalidOption(`${prefix}load`, 'a function', load)
  if (loadMany !== undefined && typeof loadMany !== 'function') {
    throw invalidOption(`${prefix}loadMany`, 'a function of a list of arguments', loadMany)
  }
  if (key !== undefined && typeof key !== 'function') {
    throw invalidOption(`${prefix}key`, 'a function of the argument', key)
  }
  // Not as a method of the definition: a schema may be a function, and has properties of its own.
  const schema = schemaOf(definition.schema, prefix)
  const precompute = resolvePrecompute(definition.precompute, `${prefix}precompute`, cron)
  const stated = { ...layOver(base.stated, given, prefix), schema }
  return {
    definition: {
      name,
      load: load as Definition<unknown, unknown>['load'],
      loadMany: loadMany as Definition<unknown, unknown>['loadMany'],
      key: key as ((arg: unknown) => unknown) | undefined,
      version: versionOf(version, prefix),
    },
    guard: guardOf(definition.guard, prefix),
    rules: derive(
      precompute === undefined ? stated : underPrecompute(stated, given, precompute, prefix),
      given,
      prefix,
    ),
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

function isSignal(given: unknown): given is AbortSignal {
  // Not instanceof: polyfills and other realms have signals too.
  return typeof given === 'object' && given !== null && 'aborted' in given && 'onabort' in given
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

function schemaOf(given: unknown, prefix: string): Schema | undefined {
  if (given === undefined) return undefined
  const isThing = (typeof given === 'object' && given !== null) || typeof given === 'function'
  const standard = isThing ? (given as Partial<Schema>)['~standard'] : undefined
  if (typeof standard?.validate === 'function') return given as Schema
  throw invalidOption(`${prefix}schema`, 'a Standard Schema (of zod, valibot, arktype …)', given)
}

function guardOf(given: unknown, prefix: string): GuardPort | undefined {
  if (given === undefined) return undefined
  const made = given as Partial<GuardPort> | null
  if (typeof made === 'object' && made?.[port] === 'guard') return made as GuardPort
  throw invalidOption(`${prefix}guard`, 'what memoryGuard() or redisGuard() give', given)
}

const invalidateLevel: Level = { names: new Set(['settle']) }

/** How long the source may still give what is of before, in whole ms. */
export function resolveSettle(options: unknown): number {
  if (options === undefined) return 0
  const { settle } = checkNames(options, invalidateLevel, 'invalidate.')
  if (settle === undefined) return 0
  const ms = durationMs(settle, 'invalidate.settle', { allowZero: true })
  if (ms > longestTimerMs) throw invalidOption('invalidate.settle', 'at most 24 days', settle)
  return ms
}

const closeLevel: Level = { names: new Set(['timeout']) }

export function resolveClose(how: unknown): { readonly timeout?: Duration } {
  return how === undefined ? {} : checkNames(how, closeLevel, 'close.')
}

const events: Level = { names: new Set(eventNames) }

export function checkEvent(event: unknown, listener: unknown): void {
  if (typeof event !== 'string') throw invalidOption('on', "an event's name", event)
  checkNames({ [event]: true }, events, 'on.')
  if (typeof listener !== 'function') throw invalidOption(`on.${event}`, 'a function', listener)
}
