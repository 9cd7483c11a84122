/**
 * `app.use(httpCache({ cache, ttl: '30s' }))`: for Koa 3 and 2. Refreshes in the background go through
 * the whole application, as a request without credentials does, whose answer nobody is sent.
 */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { visitOf } from '../http-koa/visit.ts'
import type { App, Context, Next } from '../http-koa/context.ts'
import { NodeCache } from '../http-node/http-cache.ts'
import type { HttpCacheOptions } from '../http/option-types.ts'
import type { Purges } from '../http/purges.ts'
import { isHandshake } from './handshake.ts'

export type { HttpCacheOptions, RouteCacheOptions } from '../http/option-types.ts'
export type { Fields, HttpRequest } from '../http/message.ts'
export type { PurgeOptions, Purges } from '../http/purges.ts'

/** A middleware, to be mounted where the cache is to stand: what is mounted before it runs at each request. */
export interface KoaHttpCache extends Purges {
  // eslint-disable-next-line typescript/no-explicit-any -- Koa's types are a package of their own
  (ctx: any, next: () => Promise<any>): Promise<void>
}

const callbacks = new WeakMap<App, ReturnType<App['callback']>>()

/** Throws `INVALID_OPTION` for every option that is wrong, with a sentence that names it. */
export function httpCache(options: HttpCacheOptions): KoaHttpCache {
  const node = new NodeCache(options)
  const handle = async (ctx: Context, next: Next): Promise<void> => {
    if (isHandshake(ctx.req)) {
      await next()
      return
    }
    const visit = visitOf(ctx, next)
    const run = (again: IncomingMessage, nowhere: ServerResponse): void => {
      callbackOf(ctx.app)(again, nowhere)
    }
    node.visit(ctx.req, visit, node.route, run)
    await visit.passed
  }
  return Object.assign(handle, {
    purge: node.purge.bind(node),
    purgeTags: node.purgeTags.bind(node),
  }) as KoaHttpCache
}

/** With all layers that were mounted before its first request. */
function callbackOf(app: App): ReturnType<App['callback']> {
  let callback = callbacks.get(app)
  if (callback === undefined) callbacks.set(app, (callback = app.callback()))
  return callback
}
