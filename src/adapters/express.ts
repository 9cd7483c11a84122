/**
 * `app.use(httpCache({ cache, ttl: '30s' }))`: for Express 5 and 4. Refreshes in the background go
 * through the whole application, as a request without credentials does, whose answer nobody is sent.
 */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { NodeCache } from '../http-node/http-cache.ts'
import type { HttpCacheOptions } from '../http/option-types.ts'
import type { Purges } from '../http/purges.ts'
import { show } from './express-requests.ts'
import { isHandshake } from './handshake.ts'

export type { HttpCacheOptions, RouteCacheOptions } from '../http/option-types.ts'
export type { Fields, HttpRequest } from '../http/message.ts'
export type { PurgeOptions, Purges } from '../http/purges.ts'

type App = ((req: IncomingMessage, res: ServerResponse) => unknown) & { readonly parent?: App }

interface Request extends IncomingMessage {
  originalUrl: string
  readonly app: App
}

/** A handler, to be mounted where the cache is to stand: what is mounted before it runs at each request. */
export interface ExpressHttpCache extends Purges {
  // eslint-disable-next-line typescript/no-explicit-any -- Express 4's and 5's own types differ
  (req: any, res: any, next: (error?: any) => void): void
}

/** Throws `INVALID_OPTION` for every option that is wrong, with a sentence that names it. */
export function httpCache(options: HttpCacheOptions): ExpressHttpCache {
  const node = new NodeCache(options)
  const handle = (req: Request, res: ServerResponse, next: () => void): void => {
    if (isHandshake(req)) return next()
    const { originalUrl: url } = req
    const root = rootOf(req.app)
    const onUrl = (shown: string): void => show(req, url, shown)
    node.handle({ req, res, url, next, onUrl }, node.route, (again, nowhere) => {
      root(again, nowhere)
    })
  }
  return Object.assign(handle, {
    purge: node.purge.bind(node),
    purgeTags: node.purgeTags.bind(node),
  }) as ExpressHttpCache
}

function rootOf(app: App): App {
  let root = app
  while (root.parent !== undefined) root = root.parent
  return root
}
