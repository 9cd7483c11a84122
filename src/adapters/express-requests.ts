/** How Express, and Nest on it, are shown another URL than came. */
import type { IncomingMessage } from 'node:http'

/** Under a mount, and to what is behind it, without what the cache ignores. */
export function show(
  req: IncomingMessage & { originalUrl: string },
  url: string,
  shown: string,
): void {
  const prefix = url.length - req.url!.length
  req.url = shown.slice(prefix)
  req.originalUrl = shown
  forgetQuery(req)
}

/** Express 4 has parsed the query by now, and 5 parses it when asked. */
function forgetQuery(req: IncomingMessage): void {
  const parsed = Object.getOwnPropertyDescriptor(req, 'query')?.value as unknown
  if (typeof parsed !== 'object' || parsed === null) return
  const left = new URLSearchParams(req.url!.split('?')[1] ?? '')
  for (const name of Object.keys(parsed)) {
    if (!left.has(name)) delete (parsed as Record<string, unknown>)[name]
  }
}
