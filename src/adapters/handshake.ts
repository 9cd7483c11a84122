/**
 * The request that opens a WebSocket. Each client needs its own run: whoever waited for another's answer,
 * or was given it, would have no connection. No other offer of a protocol counts: clients make it with
 * requests that are answered as ever (`Upgrade: h2c`).
 */
import type { IncomingMessage } from 'node:http'

export function isHandshake(req: IncomingMessage): boolean {
  return hasLine(req, 'upgrade') && /^websocket$/i.test(req.headers.upgrade ?? '')
}

/** Whether it came at all: without having Node make all its fields. `name`: lower-case. */
export function hasLine({ rawHeaders }: IncomingMessage, name: string): boolean {
  for (let n = 0; n < rawHeaders.length; n += 2) {
    const line = rawHeaders[n]!
    if (line.length === name.length && line.toLowerCase() === name) return true
  }
  return false
}
