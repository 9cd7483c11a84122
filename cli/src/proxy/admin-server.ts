/** `/healthz` and `/metrics`, on a port of their own: whoever reaches the proxy does not reach these. */
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { listen } from './listen.ts'

export interface Health {
  readonly status: 'ok' | 'stopping'
  readonly [more: string]: unknown
}

export interface AdminSources {
  health(): Health
  metrics(): Promise<{ readonly type: string; readonly text: string }>
}

export interface AdminServer {
  readonly port: number
  close(): void
}

export async function startAdmin(
  at: { readonly port: number; readonly host: string },
  { health, metrics }: AdminSources,
): Promise<AdminServer> {
  const server = createServer((req, res) => {
    const path = (req.url ?? '').replace(/\?.*/, '')
    if (req.method !== 'GET' && req.method !== 'HEAD') return send(res, 405, 'only GET\n')
    if (path === '/healthz') return sendHealth(res, health())
    if (path !== '/metrics') return send(res, 404, 'There are /healthz and /metrics.\n')
    metrics().then(
      ({ type, text }) => send(res, 200, text, type),
      (error: Error) => send(res, 500, `${error.message}\n`),
    )
  })
  await listen(server, at)
  return {
    port: (server.address() as AddressInfo).port,
    close: () => {
      server.close()
      server.closeAllConnections()
    },
  }
}

export function sendHealth(res: ServerResponse, health: Health): void {
  const status = health.status === 'ok' ? 200 : 503
  send(res, status, `${JSON.stringify(health)}\n`, 'application/json')
}

function send(res: ServerResponse, status: number, text: string, type = 'text/plain'): void {
  const length = Buffer.byteLength(text)
  const fields = { 'Content-Type': type, 'Content-Length': length, 'Cache-Control': 'no-store' }
  res.writeHead(status, fields).end(text)
}
