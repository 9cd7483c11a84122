/**
 * `app.use(httpCache({ cache, ttl: '30s' }))`: for Express 5 and 4. Refreshes in the background go
 * through the whole application, as a request without credentials does, whose answer nobody is sent.
 */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { NodeCache } from '../http-node/http-cache.ts'
import type { HttpCacheOptions } from '../http/option-types.ts'
import type { Purges } from '../http/purges.ts'

export type { HttpCacheOptions, RouteCacheOptions } from '../http/option-types.ts'
export type { Fields, HttpRequest } from '../http/message.ts'
export type { PurgeOptions, Purges } from '../http/purges.ts'

type App = ((req: IncomingMessage, res: ServerResponse) => unknown) & {
  readonly parent?: App
  get(setting: string): unknown
}

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
    const { originalUrl: url } = req
    const root = rootOf(req.app)
    const onUrl = (shown: string): void => {
      const prefix = url.length - req.url!.length
      req.url = shown.slice(prefix)
      req.originalUrl = shown
      parseAgain(req)
    }
    node.handle({ req, res, url, next, onUrl }, node.route, (again, nowhere) => {
      root(again, nowhere)
    })
  }
  return Object.assign(handle, {
    purge: node.purge.bind(node),
    purgeTags: node.purgeTags.bind(node),
  }) as ExpressHttpCache
}

/** Express 4 has parsed the query by now, and does it again; 5 parses it when asked. */
function parseAgain(req: Request & { query?: unknown }): void {
  if (!Object.hasOwn(req, 'query')) return
  const parse = req.app.get('query parser fn')
  const at = req.url!.indexOf('?')
  req.query = typeof parse === 'function' && at >= 0 ? parse(req.url!.slice(at + 1)) : {}
}

function rootOf(app: App): App {
  let root = app
  while (root.parent !== undefined) root = root.parent
  return root
}
