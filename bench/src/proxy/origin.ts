// The origin that all stand before: it takes its time, and counts. `/<bytes>/<name>`; names that begin
// with `stale` live for a second.

import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout } from 'node:timers/promises'
import { delayMs, staleControl } from './plan.ts'

export interface Origin {
  readonly url: string
  /** Requests for this path so far. */
  asked(path: string): number
  close(): void
}

export async function startOrigin(): Promise<Origin> {
  const counts = new Map<string, number>()
  const server = createServer((req, res) => {
    const path = req.url ?? '/'
    counts.set(path, (counts.get(path) ?? 0) + 1)
    const [, bytes, name = ''] = path.split('/')
    const body = Buffer.alloc(Number(bytes), 'x')
    const control = name.startsWith('stale') ? staleControl : 'max-age=3600'
    void setTimeout(delayMs).then(() => {
      const fields = { 'Content-Type': 'text/html', 'Content-Length': body.length }
      res.writeHead(200, { ...fields, 'Cache-Control': control }).end(body)
    })
  })
  server.keepAliveTimeout = 60_000
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked: (path) => counts.get(path) ?? 0,
    close: () => {
      server.close()
      server.closeAllConnections()
    },
  }
}
