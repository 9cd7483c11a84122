/** The options of both handlers, checked once, in one place. */
import type { Cache } from '../api.ts'
import { durationMs } from '../core/duration.ts'
import { invalidOption } from '../core/errors.ts'
import { checkNames, type Given } from '../core/option-names.ts'
import type { NextCacheOptions, NextUseCacheOptions } from './option-types.ts'

export interface Wanted {
  /** Made at the first call. */
  readonly cache: () => Cache
  readonly name: string
  readonly waitMs: number
  readonly renderMs: number
  readonly keepMs: number
  readonly staleMs: number
}

export interface PagesWanted extends Wanted {
  /** `undefined`: by build. */
  readonly version: string | false | undefined
}

export const defaults = {
  wait: '5s',
  renderTimeout: '60s',
  keep: '30d',
} as const

const names = new Set(['cache', 'name', 'wait', 'renderTimeout', 'keep', 'stale'])
const pagesNames = new Set([...names, 'version'])

export function pagesOptions(options: NextCacheOptions): PagesWanted {
  const given = checkNames(options, { names: pagesNames }, 'nextCacheHandler.')
  const { version } = given
  if (version !== undefined && version !== false && (typeof version !== 'string' || version === ''))
    throw invalidOption('nextCacheHandler.version', 'a text, or false', version)
  const usual = { factory: 'nextCacheHandler', name: 'next', stale: '1d' }
  return { ...wanted(options, given, usual), version }
}

export function useCacheOptions(options: NextUseCacheOptions): Wanted {
  const given = checkNames(options, { names }, 'nextUseCacheHandler.')
  return wanted(options, given, {
    factory: 'nextUseCacheHandler',
    name: 'next-use-cache',
    stale: '1h',
  })
}

interface Usual {
  readonly factory: string
  readonly name: string
  readonly stale: string
}

function wanted(options: NextUseCacheOptions, given: Given, usual: Usual): Wanted {
  const { factory } = usual
  const ms = (option: string, value: unknown): number => durationMs(value, `${factory}.${option}`)
  const { name = usual.name } = given
  if (typeof name !== 'string' || !/^[A-Za-z0-9._-]{1,64}$/.test(name))
    throw invalidOption(`${factory}.name`, '1 to 64 characters of A-Z a-z 0-9 . _ -', name)
  const { wait = defaults.wait, renderTimeout = defaults.renderTimeout } = given
  const { keep = defaults.keep, stale = usual.stale } = given
  return {
    cache: cacheOf(options, factory),
    name,
    waitMs: ms('wait', wait),
    renderMs: ms('renderTimeout', renderTimeout),
    keepMs: ms('keep', keep),
    staleMs: ms('stale', stale),
  }
}

/** What each function has made: handlers that are given the same one share its cache. */
const made = new WeakMap<object, Cache>()

function cacheOf({ cache: given }: NextUseCacheOptions, factory: string): () => Cache {
  return () => {
    const isMaker = typeof given === 'function'
    const known = isMaker ? made.get(given) : given
    if (known !== undefined && isCache(known)) return known
    const cache: unknown = isMaker ? given() : given
    if (!isCache(cache)) {
      throw invalidOption(`${factory}.cache`, 'a cache of createCache, or what makes one', cache)
    }
    if (isMaker) made.set(given, cache)
    return cache
  }
}

function isCache(value: unknown): value is Cache {
  if (typeof value !== 'object' || value === null) return false
  const { define, getOrLoad, invalidateTags } = value as Partial<Cache>
  return [define, getOrLoad, invalidateTags].every((method) => typeof method === 'function')
}
