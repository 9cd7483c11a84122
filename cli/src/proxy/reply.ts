/** An answer of the proxy itself: short, as text, and never kept by anybody. */
import type { ServerResponse } from 'node:http'
import type { Answer } from './intake.ts'

export function reply(res: ServerResponse, { status, text, fields = {} }: Answer): void {
  for (const name of res.getHeaderNames()) res.removeHeader(name)
  const body = text === '' ? '' : `${text}\n`
  for (const [name, value] of Object.entries(fields)) res.setHeader(name, value)
  // What is left of a request's body is not waited for.
  if (res.req?.complete === false) res.setHeader('Connection', 'close')
  res.setHeader('Cache-Control', 'no-store')
  if (body !== '') {
    res.setHeader('Content-Type', 'text/plain; charset=utf-8')
    res.setHeader('Content-Length', Buffer.byteLength(body))
  }
  res.writeHead(status)
  res.end(body)
}

/** The client must see that this answer is not whole, also where only the connection's end could tell. */
export function breakOff(res: ServerResponse): void {
  const { socket } = res
  if (socket !== null && !res.chunkedEncoding && !res.hasHeader('content-length')) {
    socket.resetAndDestroy()
  }
  res.destroy()
}
