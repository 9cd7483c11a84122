/**
 * A response cache for Node's own HTTP server and what is built like it: `(req, res, next)`. The other
 * frameworks' adapters do the same with their own words.
 */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { NodeCache } from '../http-node/http-cache.ts'
import type { HttpCacheOptions } from '../http/option-types.ts'
import type { Purges } from '../http/purges.ts'

export type { HttpCacheOptions, RouteCacheOptions } from '../http/option-types.ts'
export type { Fields, HttpRequest } from '../http/message.ts'
export type { PurgeOptions, Purges } from '../http/purges.ts'

export interface NodeHttpCacheOptions extends HttpCacheOptions {
  /**
   * Runs the application for a request that no visitor made. Without it nothing is refreshed in the
   * background: what is stale is loaded by the next visitor.
   */
  dispatch?: ((req: IncomingMessage, res: ServerResponse) => void) | undefined
}

export interface HttpCache extends Purges {
  /** Answers from what is kept, or calls `next` once, whose answer is kept where it may be. */
  (req: IncomingMessage, res: ServerResponse, next: () => void): void
}

/** Throws `INVALID_OPTION` for every option that is wrong, with a sentence that names it. */
export function httpCache(options: NodeHttpCacheOptions): HttpCache {
  const node = new NodeCache(options, ['dispatch'])
  const { dispatch } = options
  const handle = (
    req: IncomingMessage & { originalUrl?: string },
    res: ServerResponse,
    next: () => void,
  ): void => {
    const url = req.originalUrl ?? req.url ?? '/'
    const onUrl = (shown: string): void => {
      // Under a mount the application sees what is behind the prefix.
      const prefix = url.length - (req.url ?? '').length
      req.url = shown.slice(Math.max(0, prefix))
    }
    node.handle({ req, res, url, next, onUrl }, node.route, dispatch)
  }
  return Object.assign(handle, {
    purge: node.purge.bind(node),
    purgeTags: node.purgeTags.bind(node),
  })
}
