// The page's server: on the loopback, behind a token, with a policy that lets the page ask nobody
// else for anything.

import { randomBytes } from 'node:crypto'
import Fastify from 'fastify'
import { actionIds } from './actions.ts'
import { refusal } from './guard.ts'
import { liveJs } from './live-behaviour.ts'
import { liveCss, livePage } from './live-page.ts'
import type { Live } from './live.ts'
import { Viewers } from './viewers.ts'

export interface LiveServer {
  /** With the token: what to open in a browser. */
  readonly url: string
  /** Tells who looks on that this was all, and ends. */
  close(): Promise<void>
}

const headers = {
  'content-security-policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:; " +
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'cache-control': 'no-store',
}

/** `port` 0: a free one. */
export async function serveLive(live: Live, port: number): Promise<LiveServer> {
  const token = randomBytes(16).toString('hex')
  const viewers = new Viewers(live)
  // A HEAD of the stream would look on for ever and see nothing.
  const app = Fastify({ forceCloseConnections: true, exposeHeadRoutes: false })

  app.addHook('onRequest', async (request, reply) => {
    void reply.headers(headers)
    const why = refusal(
      {
        host: request.headers.host,
        origin: request.headers.origin,
        fetchSite: request.headers['sec-fetch-site'] as string | undefined,
        token: request.url.split('/')[1],
      },
      token,
    )
    return why === undefined ? undefined : reply.code(403).type('text/plain').send(`${why}\n`)
  })
  app.get('/:token/', (_, reply) => reply.type('text/html').send(livePage(live.record.mode)))
  app.get('/:token/live.css', (_, reply) => reply.type('text/css').send(liveCss))
  app.get('/:token/live.js', (_, reply) => reply.type('text/javascript').send(liveJs))
  app.get('/:token/stream', (_, reply) => {
    reply.hijack()
    reply.raw.writeHead(200, { ...headers, 'content-type': 'text/event-stream' })
    viewers.add(reply.raw)
  })
  app.post<{ Params: { action: string } }>('/:token/press/:action', (request, reply) => {
    const action = actionIds.find((id) => id === request.params.action)
    if (action === undefined) return reply.code(404).type('text/plain').send('no such button')
    const why = live.controls.press(action)
    if (why === undefined) return reply.code(204).send()
    return reply.code(409).type('text/plain').send(why)
  })

  try {
    await app.listen({ host: '127.0.0.1', port })
  } catch (cause) {
    throw new Error(
      `expected port ${port} to be free for the live page, got ${String((cause as Error).message)}: ` +
        'choose another with --port, or leave it out for any that is free',
      { cause },
    )
  }
  const address = app.server.address()
  const chosen = typeof address === 'object' && address !== null ? address.port : port
  return {
    url: `http://127.0.0.1:${chosen}/${token}/`,
    async close() {
      await viewers.end()
      await app.close()
    },
  }
}
