/**
 * A request that offers a protocol which is not taken. node:http leaves off reading it at its head, body
 * and all; here its connection is given back with the head less the offer, and is one as any other.
 */
import type { IncomingMessage, Server } from 'node:http'
import type { Duplex } from 'node:stream'

export function takeAsPlain(
  server: Server,
  { method, url, httpVersion, rawHeaders }: IncomingMessage,
  { socket, head }: { readonly socket: Duplex; readonly head: Buffer },
): void {
  const lines = [`${method} ${url} HTTP/${httpVersion}`]
  for (let at = 0; at < rawHeaders.length; at += 2) {
    if (rawHeaders[at]!.toLowerCase() === 'upgrade') continue
    lines.push(`${rawHeaders[at]}: ${rawHeaders[at + 1]}`)
  }
  socket.unshift(Buffer.concat([Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1'), head]))
  server.emit('connection', socket)
}
