/**
 * The request that opens a WebSocket. Each client needs its own run: whoever waited for another's answer,
 * or was given it, would have no connection. No other offer of a protocol counts: clients make it with
 * requests that are answered as ever (`Upgrade: h2c`).
 */
import type { IncomingMessage } from 'node:http'

export function isHandshake({ headers }: IncomingMessage): boolean {
  return headers.upgrade !== undefined && /^websocket$/i.test(headers.upgrade)
}
