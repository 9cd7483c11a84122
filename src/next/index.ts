/**
 * `breakwater/next`: the caches of Next.js 15 and 16 on a breakwater cache, so that all instances of
 * an application share one: with its tags, one render per key in the fleet, and answers when Redis is
 * gone. Imports nothing of Next.js.
 */
import { incrementalHandler, type NextCacheHandlerClass } from './incremental.ts'
import type { NextCacheOptions, NextUseCacheOptions } from './option-types.ts'
import { useCacheHandler, type NextUseCacheHandler } from './use-cache.ts'

export type { NextCacheOptions, NextUseCacheOptions } from './option-types.ts'
export type { NextCacheEntry, NextCacheHandler, NextCacheHandlerClass } from './incremental.ts'
export type { NextUseCacheEntry, NextUseCacheHandler } from './use-cache.ts'

/**
 * The class that `cacheHandler` in `next.config` points to: pages, route handlers, `fetch`,
 * `unstable_cache`, and images with `images.customCacheHandler`. Make it once per process, and export
 * it as default.
 *
 * What goes wrong with Redis, or with a value, means that the request renders: neither `get` nor
 * `set` rejects.
 *
 * @throws BreakwaterError `INVALID_OPTION`.
 */
export function nextCacheHandler(options: NextCacheOptions): NextCacheHandlerClass {
  return incrementalHandler(options)
}

/**
 * A handler for `cacheHandlers` in `next.config` (`default`, `remote`, or a name of your own): functions and
 * components marked `'use cache'`. Make it once per process, and export it as default; one more on
 * the same cache needs a `name`.
 *
 * @throws BreakwaterError `INVALID_OPTION`.
 */
export function nextUseCacheHandler(options: NextUseCacheOptions): NextUseCacheHandler {
  return useCacheHandler(options)
}
