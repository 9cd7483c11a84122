/**
 * `withHttpCache(handler, { cache, ttl: '30s' })`: for whatever answers a Request with a Response, as
 * servers on Fetch take it. Refreshes in the background call the handler in this process.
 */
import { FetchCache } from '../http-fetch/fetch-cache.ts'
import type { HttpCacheOptions } from '../http/option-types.ts'
import type { Purges } from '../http/purges.ts'

export type { HttpCacheOptions, RouteCacheOptions } from '../http/option-types.ts'
export type { Fields, HttpRequest } from '../http/message.ts'
export type { PurgeOptions, Purges } from '../http/purges.ts'

/** `More`: what the server gives a handler besides the request, as in `(request, env, context)`. */
export type FetchHandler<More extends readonly unknown[]> = (
  request: Request,
  ...more: More
) => Response | Promise<Response>

export interface CachedHandler<More extends readonly unknown[]> extends Purges {
  /** Answers from what is kept, or calls the handler once, whose answer is kept where it may be. */
  (request: Request, ...more: More): Promise<Response>
}

/** Throws `INVALID_OPTION` for every option that is wrong, with a sentence that names it. */
export function withHttpCache<More extends readonly unknown[] = []>(
  handler: FetchHandler<More>,
  options: HttpCacheOptions,
): CachedHandler<More> {
  const cache = new FetchCache(options, true)
  const handle = (request: Request, ...more: More): Promise<Response> =>
    cache.handle({
      request,
      next: async (shown) => handler(shown, ...more),
      prior: () => ({}),
      run: (again) => handle(again, ...(more.map(withoutVisitor) as unknown as More)),
      waitUntil: (work) => {
        more.find(isContext)?.waitUntil(work)
      },
    })
  return Object.assign(handle, {
    purge: cache.purge.bind(cache),
    purgeTags: cache.purgeTags.bind(cache),
  })
}

/** `@hono/node-server` hands Node's own request along, which has the visitor's credentials. */
function withoutVisitor(one: unknown): unknown {
  return typeof one === 'object' && one !== null && 'incoming' in one ? {} : one
}

interface Context {
  waitUntil(work: Promise<unknown>): void
}

function isContext(this: void, one: unknown): one is Context {
  return typeof (one as Partial<Context> | null | undefined)?.waitUntil === 'function'
}
