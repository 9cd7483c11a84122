/**
 * `app.use(httpCache({ cache, ttl: '30s', fetch: (request) => app.fetch(request) }))`: for Hono 4.
 * What is mounted further in is kept; what is further out runs at each request, and its fields stay its own.
 */
import type { Context, MiddlewareHandler } from 'hono'
import { FetchCache } from '../http-fetch/fetch-cache.ts'
import { fieldsOf } from '../http-fetch/fields.ts'
import type { Fields } from '../http/message.ts'
import type { HttpCacheOptions } from '../http/option-types.ts'
import type { Purges } from '../http/purges.ts'

export type { HttpCacheOptions, RouteCacheOptions } from '../http/option-types.ts'
export type { Fields, HttpRequest } from '../http/message.ts'
export type { PurgeOptions, Purges } from '../http/purges.ts'

export interface HonoHttpCacheOptions extends HttpCacheOptions {
  /**
   * Runs the whole application for a request that no visitor made: `(request) => app.fetch(request)`.
   * Without it nothing is refreshed in the background: what is stale is loaded by the next visitor.
   */
  fetch?: ((request: Request) => Response | Promise<Response>) | undefined
}

/** A middleware, to be mounted where the cache is to stand: what is mounted before it runs at each request. */
export interface HonoHttpCache extends MiddlewareHandler, Purges {}

/** Throws `INVALID_OPTION` for every option that is wrong, with a sentence that names it. */
export function httpCache(options: HonoHttpCacheOptions): HonoHttpCache {
  const run = options.fetch
  const cache = new FetchCache(options, run !== undefined, ['fetch'])
  const handle = async (c: Context, next: () => Promise<void>): Promise<void> => {
    const { raw } = c.req
    let before: Fields | undefined
    // A look at `c.res` would change what the application's own answer is made of.
    const prior = (): Fields => (before ??= fieldsOf(c.body(null).headers))
    const response = await cache.handle({
      request: raw,
      next: async (shown) => {
        prior()
        c.req.raw = shown
        try {
          await next()
        } finally {
          c.req.raw = raw
        }
        return c.res
      },
      prior,
      run,
      waitUntil: (work) => {
        try {
          c.executionCtx.waitUntil(work)
        } catch {
          // A runtime without: it goes on anyway.
        }
      },
    })
    if (c.finalized && response === c.res) return
    // Else the fields of the one that was there before would be put over the new one's.
    c.res = undefined
    c.res = response
  }
  return Object.assign(handle, {
    purge: cache.purge.bind(cache),
    purgeTags: cache.purgeTags.bind(cache),
  })
}
