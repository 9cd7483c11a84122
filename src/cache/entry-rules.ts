/**
 * How an entry lives, resolved once from options into plain milliseconds. Levels are laid over each
 * other as they were stated (cache, definition, call), and only then is derived what depends on
 * another option: a definition's longer ttl lets its negative entries live up to the cache's
 * `negativeTtl` again, and its `loadTimeout` moves a `waitTimeout` that nobody has set.
 */
import { byteSize } from '../core/byte-size.ts'
import { durationMs } from '../core/duration.ts'
import type { EarlyRefresh } from '../core/early-refresh.ts'
import { BreakwaterError, invalidOption } from '../core/errors.ts'
import { isMode, modesInWords, type Mode } from '../core/modes.ts'
import { port } from '../ports.ts'
import type { Schema } from '../core/conform.ts'
import type { CodecPort, Compressions } from '../ports.ts'
import type { Label } from '../core/labels.ts'
import { compressRules, usualCompress, type CompressRules } from './compress-rules.ts'
import { labelsFor } from './labels-for.ts'
import type { PrecomputeRules } from './precompute-rules.ts'
import { entryDefaults } from './option-defaults.ts'
import { checkNames } from '../core/option-names.ts'
import { verifyRules, type VerifyRules } from './verify-rules.ts'
import type { Given, Level } from '../core/option-names.ts'

/** Frozen and shared, a copy for each caller, or shared as it is. */
export type Values = 'freeze' | 'clone' | 'share'

export interface EntryRules {
  readonly ttlMs: number
  readonly staleWhileRevalidateMs: number
  readonly staleIfErrorMs: number
  readonly softTimeoutMs: number | undefined
  readonly loadTimeoutMs: number
  readonly waitTimeoutMs: number
  readonly leaseMs: number
  /** Never more than `ttlMs`. */
  readonly negativeTtlMs: number
  readonly errorBackoffMs: number
  readonly errorTtlMs: number
  readonly uncacheableForMs: number
  readonly jitter: number
  readonly earlyRefresh: EarlyRefresh | undefined
  readonly values: Values
  readonly codec: CodecPort
  readonly compress: CompressRules
  /** All that this process can read by. */
  readonly compressions: Compressions
  readonly maxBytes: number
  /** A definition's: what values that are read must look like. */
  readonly schema: Schema | undefined
  readonly isFailure: (error: unknown) => boolean
  readonly mode: Mode | (() => unknown)
  readonly isNegative: (value: unknown) => boolean
  /** Whether it may be kept in the in-process tier, in the shared one. */
  readonly memory: boolean
  readonly store: boolean
  readonly fallback: ((error: unknown, arg: unknown) => unknown) | undefined
  readonly errors: WireErrors | undefined
  readonly tags: TagRules
  /** A definition's, whose entries are made ahead. */
  readonly precompute: PrecomputeRules | undefined
  readonly verify: VerifyRules | undefined
  /** What this was derived from, for the next level. */
  readonly stated: Stated
}

export interface TagRules {
  /** Every entry's; a reader holds its own against every frame, whatever it was stored with. */
  readonly fixed: readonly Label[]
  readonly of: ((value: unknown, arg: unknown) => unknown) | undefined
}

export interface WireErrors {
  readonly toWire: (error: unknown) => unknown
  readonly fromWire: (json: unknown) => unknown
}

type Derived = 'waitTimeoutMs' | 'stated'

export interface Stated extends Omit<EntryRules, Derived> {
  readonly waitTimeoutMs: number | undefined
}

const ofDefaults = [
  'ttl',
  'staleWhileRevalidate',
  'staleIfError',
  'softTimeout',
  'loadTimeout',
  'waitTimeout',
  'lease',
  'negativeTtl',
  'errorBackoff',
  'errorTtl',
  'uncacheableFor',
  'jitter',
  'earlyRefresh',
  'values',
  'codec',
  'compress',
  'maxBytes',
  'isFailure',
  'mode',
  'verify',
]
const ofEntries = ['isNegative', 'memory', 'store', 'fallback', 'errors', 'tags']

/** Names of options that a cache, a definition and a call all have. */
export const entryDefaultNames: readonly string[] = ofDefaults
export const entryNames: readonly string[] = [...ofDefaults, ...ofEntries]

const earlyRefreshLevel: Level = { names: new Set(['beta', 'maxLead']) }
const errorsLevel: Level = { names: new Set(['toWire', 'fromWire']) }

/** A lease is renewed at a third of its life: below this it is lost to any pause of the process. */
const minLeaseMs = 100

/** What every cache starts from, before its own options are laid over it. */
export function statedDefaults(codec: CodecPort, compressions: Compressions): Stated {
  const nothing: Stated = {
    ttlMs: 0,
    staleWhileRevalidateMs: 0,
    staleIfErrorMs: 0,
    softTimeoutMs: undefined,
    loadTimeoutMs: 0,
    waitTimeoutMs: undefined,
    leaseMs: 0,
    negativeTtlMs: 0,
    errorBackoffMs: 0,
    errorTtlMs: 0,
    uncacheableForMs: 0,
    jitter: 0,
    earlyRefresh: undefined,
    values: 'freeze',
    codec,
    compress: usualCompress(compressions),
    compressions,
    maxBytes: 0,
    schema: undefined,
    isFailure: () => true,
    mode: 'normal',
    isNegative: (value) => value === null || value === undefined,
    memory: true,
    store: true,
    fallback: undefined,
    errors: undefined,
    tags: { fixed: [], of: undefined },
    precompute: undefined,
    verify: undefined,
  }
  // How it compresses by default is not in the options' own words: by what this process has.
  return layOver(nothing, { ...entryDefaults, compress: undefined }, '')
}

/** The options that are given, checked, over what was stated before. Names are checked already. */
export function layOver(base: Stated, given: Given, prefix: string): Stated {
  const duration = (name: string, before: number, allowZero = true): number =>
    given[name] === undefined ? before : durationMs(given[name], prefix + name, { allowZero })
  const wait = given['waitTimeout']
  const maxBytes = given['maxBytes']
  const { compressions } = base
  return {
    ttlMs: duration('ttl', base.ttlMs),
    staleWhileRevalidateMs: duration('staleWhileRevalidate', base.staleWhileRevalidateMs),
    staleIfErrorMs: duration('staleIfError', base.staleIfErrorMs),
    softTimeoutMs: softTimeout(given['softTimeout'], base.softTimeoutMs, prefix),
    loadTimeoutMs: duration('loadTimeout', base.loadTimeoutMs, false),
    waitTimeoutMs: wait === undefined ? base.waitTimeoutMs : duration('waitTimeout', 0),
    leaseMs: lease(duration('lease', base.leaseMs, false), given['lease'], prefix),
    negativeTtlMs: duration('negativeTtl', base.negativeTtlMs),
    errorBackoffMs: duration('errorBackoff', base.errorBackoffMs),
    errorTtlMs: duration('errorTtl', base.errorTtlMs),
    uncacheableForMs: duration('uncacheableFor', base.uncacheableForMs),
    jitter: share(given['jitter'], base.jitter, `${prefix}jitter`),
    earlyRefresh: earlyRefresh(given['earlyRefresh'], base.earlyRefresh, `${prefix}earlyRefresh`),
    values: values(given['values'], base.values, prefix),
    codec: codec(given['codec'], base.codec, prefix),
    compress: compressRules(given['compress'], base.compress, {
      option: `${prefix}compress`,
      compressions,
    }),
    compressions,
    schema: base.schema,
    maxBytes: maxBytes === undefined ? base.maxBytes : byteSize(maxBytes, `${prefix}maxBytes`),
    isFailure: aFunction(given['isFailure'], base.isFailure, `${prefix}isFailure`),
    mode: mode(given['mode'], base.mode, `${prefix}mode`),
    isNegative: aFunction(given['isNegative'], base.isNegative, `${prefix}isNegative`),
    memory: aBoolean(given['memory'], base.memory, `${prefix}memory`),
    store: aBoolean(given['store'], base.store, `${prefix}store`),
    fallback: aFunction(given['fallback'], base.fallback, `${prefix}fallback`),
    errors: wireErrors(given['errors'], base.errors, `${prefix}errors`),
    tags: tagRules(given['tags'], base.tags, `${prefix}tags`),
    precompute: base.precompute,
    verify: verifyRules(given['verify'], base.verify, `${prefix}verify`),
  }
}

/** What depends on other options, and what cannot be together. `given`: of the last level. */
export function derive(stated: Stated, given: Given, prefix: string): EntryRules {
  const { ttlMs, staleIfErrorMs, softTimeoutMs, loadTimeoutMs } = stated
  // Only a level that asks for it is told so: a definition may undo what the cache had in mind.
  if (softTimeoutMs !== undefined && given['softTimeout'] !== undefined) {
    if (staleIfErrorMs === 0) {
      throw refuse(
        `${prefix}softTimeout: has nothing to answer with unless staleIfError is set as well`,
      )
    }
    if (softTimeoutMs >= loadTimeoutMs) {
      throw refuse(
        `${prefix}softTimeout: expected less than loadTimeout (${loadTimeoutMs} ms), got ${softTimeoutMs} ms`,
      )
    }
  }
  return Object.freeze({
    ...stated,
    softTimeoutMs: staleIfErrorMs === 0 ? undefined : softTimeoutMs,
    waitTimeoutMs: stated.waitTimeoutMs ?? loadTimeoutMs,
    negativeTtlMs: Math.min(stated.negativeTtlMs, ttlMs),
    stated,
  })
}

function refuse(sentence: string): BreakwaterError {
  return new BreakwaterError('INVALID_OPTION', sentence)
}

function softTimeout(
  given: unknown,
  before: number | undefined,
  prefix: string,
): number | undefined {
  if (given === undefined) return before
  if (given === false) return undefined
  const ms = durationMs(given, `${prefix}softTimeout`, { allowZero: true })
  return ms === 0 ? undefined : ms
}

function lease(ms: number, given: unknown, prefix: string): number {
  if (given !== undefined && ms < minLeaseMs) {
    throw invalidOption(`${prefix}lease`, `at least ${minLeaseMs} ms`, given)
  }
  return ms
}

/** A number from 0 to 1. */
function share(given: unknown, before: number, option: string): number {
  if (given === undefined) return before
  if (typeof given === 'number' && given >= 0 && given <= 1) return given
  throw invalidOption(option, 'a number from 0 to 1', given)
}

function earlyRefresh(
  given: unknown,
  before: EarlyRefresh | undefined,
  option: string,
): EarlyRefresh | undefined {
  if (given === undefined) return before
  if (given === false) return undefined
  if (typeof given !== 'object' || given === null) {
    throw invalidOption(option, "false or an object such as '{ beta: 1, maxLead: 0.25 }'", given)
  }
  const { beta, maxLead } = checkNames(given, earlyRefreshLevel, `${option}.`)
  const base = before ?? entryDefaults.earlyRefresh
  if (beta !== undefined && !(typeof beta === 'number' && beta >= 0 && beta < Infinity)) {
    throw invalidOption(`${option}.beta`, 'a number of 0 or more', beta)
  }
  return { beta: beta ?? base.beta, maxLead: share(maxLead, base.maxLead, `${option}.maxLead`) }
}

function values(given: unknown, before: Values, prefix: string): Values {
  if (given === undefined) return before
  if (given === 'freeze' || given === 'clone' || given === 'share') return given
  throw invalidOption(`${prefix}values`, "'freeze', 'clone' or 'share'", given)
}

function codec(given: unknown, before: CodecPort, prefix: string): CodecPort {
  if (given === undefined) return before
  const made = given as Partial<CodecPort> | null
  if (typeof made === 'object' && made?.[port] === 'codec') return made as CodecPort
  throw invalidOption(
    `${prefix}codec`,
    'what msgpack(), json(), defineCodec() and the like give',
    given,
  )
}

function mode(given: unknown, before: EntryRules['mode'], option: string): EntryRules['mode'] {
  if (given === undefined) return before
  if (isMode(given) || typeof given === 'function') return given as EntryRules['mode']
  throw invalidOption(option, `${modesInWords}, or a function that gives one`, given)
}

function aFunction<F>(given: unknown, before: F, option: string): F {
  if (given === undefined) return before
  if (typeof given === 'function') return given as F
  throw invalidOption(option, 'a function', given)
}

export function aBoolean(given: unknown, before: boolean, option: string): boolean {
  if (given === undefined) return before
  if (typeof given === 'boolean') return given
  throw invalidOption(option, 'true or false', given)
}

function tagRules(given: unknown, before: TagRules, option: string): TagRules {
  if (given === undefined) return before
  if (typeof given === 'function') return { fixed: [], of: given as TagRules['of'] }
  return { fixed: labelsFor(given, option), of: undefined }
}

function wireErrors(
  given: unknown,
  before: WireErrors | undefined,
  option: string,
): WireErrors | undefined {
  if (given === undefined) return before
  const { toWire, fromWire } = checkNames(given, errorsLevel, `${option}.`)
  if (toWire === undefined && fromWire === undefined) return before
  if (typeof toWire !== 'function' || typeof fromWire !== 'function') {
    throw refuse(`${option}: expected two functions, toWire and fromWire; one alone does nothing`)
  }
  // As methods of the user's object, which may use `this`.
  return { toWire: toWire.bind(given), fromWire: fromWire.bind(given) }
}
