/** How Express, and Nest on it, are shown another URL than came. */
import type { IncomingMessage } from 'node:http'

interface App {
  get(setting: 'query parser fn'): ((query: string) => unknown) | undefined
}

/** Under a mount, and to what is behind it, without what the cache ignores. */
export function show(
  req: IncomingMessage & { originalUrl: string },
  url: string,
  shown: string,
): void {
  const prefix = url.length - req.url!.length
  req.url = shown.slice(prefix)
  req.originalUrl = shown
  parseAgain(req)
}

/** Express 4 has parsed the query by now, and does it again; 5 parses it when asked. */
function parseAgain(req: IncomingMessage & { app?: App; query?: unknown }): void {
  if (!Object.hasOwn(req, 'query')) return
  const parse = req.app?.get('query parser fn')
  const at = req.url!.indexOf('?')
  req.query = typeof parse === 'function' && at >= 0 ? parse(req.url!.slice(at + 1)) : {}
}
