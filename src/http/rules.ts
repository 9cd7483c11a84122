/** Options to rules, once: of the response cache, and of each route that says something else. */
import type { Cache } from '../api.ts'
import { engineOf } from '../cache/companions.ts'
import { byteSize } from '../core/byte-size.ts'
import { durationMs } from '../core/duration.ts'
import { invalidOption } from '../core/errors.ts'
import { checkNames, type Given } from '../core/option-names.ts'
import type { Clock } from '../ports.ts'
import { defaultStatuses } from './storable.ts'
import type { HttpRequest } from './message.ts'

/** What a route may say differently. */
export interface RouteRules {
  /** `undefined`: only answers that carry freshness of their own are stored. */
  readonly ttlMs: number | undefined
  readonly staleWhileRevalidateMs: number
  readonly staleIfErrorMs: number
  readonly statuses: ReadonlySet<number>
  readonly user: ((request: HttpRequest) => string | undefined) | undefined
  readonly storesSetCookie: boolean
  readonly skip: ((request: HttpRequest) => boolean) | undefined
  readonly vary: readonly string[]
  readonly query: QueryRules
  readonly tags: readonly string[]
}

export interface QueryRules {
  readonly ignores: ((name: string) => boolean) | undefined
  readonly sorts: boolean
}

export interface HttpRules {
  readonly cache: Cache
  readonly clock: Clock
  readonly name: string
  readonly hosts: ReadonlySet<string> | undefined
  readonly keyHost: boolean
  readonly ignoresCookie: ((name: string) => boolean) | undefined
  readonly credentials: readonly string[]
  readonly maxBodyBytes: number
  readonly bodyTimeoutMs: number
  readonly uncacheableForMs: number
  readonly targets: readonly string[]
  readonly cacheStatus: string | undefined
  readonly obeysRequest: boolean
  readonly purgeToken: string | undefined
  readonly route: RouteRules
  /** A function of the user's threw: told by the event `callbackFailed`. */
  tell(callback: string, error: unknown): void
}

export const routeOptionNames = [
  'ttl',
  'staleWhileRevalidate',
  'staleIfError',
  'statuses',
  'user',
  'storeSetCookie',
  'skip',
  'vary',
  'query',
  'tags',
]
const ofCaches = [
  'cache',
  'name',
  'hosts',
  'keyHost',
  'ignoreCookies',
  'credentials',
  'maxBodySize',
  'bodyTimeout',
  'uncacheableFor',
  'targets',
  'cacheStatus',
  'obeyRequest',
  'purge',
]
export const httpOptionNames = [...routeOptionNames, ...ofCaches]
const routeLevel = {
  names: new Set(routeOptionNames),
  elsewhere: { names: new Set(ofCaches), where: 'httpCache, not of a single route' },
}

/** `more`: options of the adapter itself, which it reads on its own. */
export function resolveHttp(options: unknown, more: readonly string[] = []): HttpRules {
  const given = checkNames(options, { names: new Set([...httpOptionNames, ...more]) }, '')
  const cache = given['cache'] as Cache
  const engine = typeof cache === 'object' && cache !== null ? engineOf(cache) : undefined
  if (engine === undefined) throw invalidOption('cache', 'what createCache gave', cache)
  const entry = engine.defaults
  const hosts = given['hosts']
  const purge = given['purge']
  const cacheStatus = given['cacheStatus'] ?? 'breakwater'
  const name = given['name'] === undefined ? 'http' : text(given['name'], 'name')
  const base: RouteRules = {
    ttlMs: entry.ttlMs,
    staleWhileRevalidateMs: entry.staleWhileRevalidateMs,
    staleIfErrorMs: entry.staleIfErrorMs,
    statuses: defaultStatuses,
    user: undefined,
    storesSetCookie: false,
    skip: undefined,
    vary: [],
    query: { ignores: undefined, sorts: true },
    tags: [],
  }
  return {
    cache,
    clock: engine.clock,
    name,
    hosts: hosts === undefined ? undefined : new Set(lowered(hosts, 'hosts')),
    keyHost: yes(given['keyHost'], true, 'keyHost'),
    ignoresCookie:
      given['ignoreCookies'] === true
        ? () => true
        : matching(given['ignoreCookies'], 'ignoreCookies'),
    credentials: lowered(given['credentials'] ?? [], 'credentials'),
    maxBodyBytes: byteSize(given['maxBodySize'] ?? '2MiB', 'maxBodySize'),
    bodyTimeoutMs: durationMs(given['bodyTimeout'] ?? '10s', 'bodyTimeout'),
    uncacheableForMs: durationMs(given['uncacheableFor'] ?? '2m', 'uncacheableFor'),
    targets: lowered(
      given['targets'] ?? ['breakwater-cache-control', 'cdn-cache-control'],
      'targets',
    ),
    cacheStatus: cacheStatus === false ? undefined : fieldText(cacheStatus, 'cacheStatus'),
    obeysRequest: yes(given['obeyRequest'], false, 'obeyRequest'),
    purgeToken: purge === undefined ? undefined : tokenOf(purge),
    route: overlaid(base, given, ''),
    tell: (callback, error) => {
      engine.listeners.tell('callbackFailed', () => ({ name, key: '', callback, error }))
    },
  }
}

/** A route's own, over those of the whole. */
export function resolveRoute(base: RouteRules, options: unknown, prefix: string): RouteRules {
  return overlaid(base, checkNames(options, routeLevel, prefix), prefix)
}

function overlaid(base: RouteRules, given: Given, prefix: string): RouteRules {
  const duration = (name: string, otherwise: number | undefined): number | undefined =>
    given[name] === undefined
      ? otherwise
      : durationMs(given[name], prefix + name, { allowZero: true })
  const ttlMs = duration('ttl', base.ttlMs)
  const rules: RouteRules = {
    ttlMs: ttlMs === 0 ? undefined : ttlMs,
    staleWhileRevalidateMs: duration('staleWhileRevalidate', base.staleWhileRevalidateMs)!,
    staleIfErrorMs: duration('staleIfError', base.staleIfErrorMs)!,
    statuses: given['statuses'] === undefined ? base.statuses : statuses(given['statuses'], prefix),
    user: aFunction(given['user'], `${prefix}user`) ?? base.user,
    storesSetCookie: yes(given['storeSetCookie'], base.storesSetCookie, `${prefix}storeSetCookie`),
    skip: aFunction(given['skip'], `${prefix}skip`) ?? base.skip,
    vary: given['vary'] === undefined ? base.vary : lowered(given['vary'], `${prefix}vary`),
    query: given['query'] === undefined ? base.query : queryRules(given['query'], `${prefix}query`),
    tags: given['tags'] === undefined ? base.tags : texts(given['tags'], `${prefix}tags`),
  }
  if (rules.storesSetCookie && rules.user === undefined) {
    throw invalidOption(
      `${prefix}storeSetCookie`,
      'false, or `user` beside it: a cookie that is kept for all would be given to all',
      true,
    )
  }
  return rules
}

function queryRules(given: unknown, option: string): QueryRules {
  const { ignore, only, sort } = checkNames(
    given,
    { names: new Set(['ignore', 'only', 'sort']) },
    `${option}.`,
  )
  if (ignore !== undefined && only !== undefined) {
    throw invalidOption(option, 'one of `ignore` and `only`', 'both')
  }
  const isOne = matching(only, `${option}.only`)
  return {
    ignores:
      isOne === undefined ? matching(ignore, `${option}.ignore`) : (name: string) => !isOne(name),
    sorts: yes(sort, true, `${option}.sort`),
  }
}

/** `['utm_*', 'gclid']`: names, case-sensitive, a `*` at the end for any. */
function matching(given: unknown, option: string): ((name: string) => boolean) | undefined {
  if (given === undefined) return undefined
  const names = texts(given, option)
  const whole = new Set(names.filter((name) => !name.endsWith('*')))
  const starts = names.filter((name) => name.endsWith('*')).map((name) => name.slice(0, -1))
  return (name) => whole.has(name) || starts.some((start) => name.startsWith(start))
}

function statuses(given: unknown, prefix: string): ReadonlySet<number> {
  const isStatus = (one: unknown): boolean =>
    Number.isInteger(one) && (one as number) >= 200 && (one as number) <= 499
  if (!Array.isArray(given) || !given.every(isStatus)) {
    throw invalidOption(`${prefix}statuses`, 'a list of statuses from 200 to 499', given)
  }
  return new Set(given as number[])
}

function tokenOf(given: unknown): string {
  const { token } = checkNames(given, { names: new Set(['token']) }, 'purge.')
  if (typeof token !== 'string' || token.length < 16) {
    throw invalidOption('purge.token', 'a secret of at least 16 characters', typeof token)
  }
  return token
}

function texts(given: unknown, option: string): readonly string[] {
  if (!Array.isArray(given) || !given.every((one) => typeof one === 'string' && one !== '')) {
    throw invalidOption(option, 'a list of texts', given)
  }
  return [...(given as string[])]
}

function lowered(given: unknown, option: string): readonly string[] {
  return texts(given, option).map((one) => one.toLowerCase())
}

function text(given: unknown, option: string): string {
  if (typeof given !== 'string' || given === '') throw invalidOption(option, 'a text', given)
  return given
}

/** What may stand in a field (RFC 9651, 3.3.3). */
function fieldText(given: unknown, option: string): string {
  if (typeof given !== 'string' || !/^[\x20-\x7e]+$/.test(given)) {
    throw invalidOption(option, 'a text of printable ASCII, or false', given)
  }
  return given
}

function yes(given: unknown, otherwise: boolean, option: string): boolean {
  if (given === undefined) return otherwise
  if (typeof given !== 'boolean') throw invalidOption(option, 'true or false', given)
  return given
}

function aFunction<F>(given: unknown, option: string): F | undefined {
  if (given === undefined) return undefined
  if (typeof given !== 'function') throw invalidOption(option, 'a function', given)
  return given as F
}
