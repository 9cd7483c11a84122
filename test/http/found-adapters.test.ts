// Faults that were found by attacking the adapters from outside, each with what is right.

import { createServer, ServerResponse, type IncomingMessage, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import express from 'express'
import Fastify from 'fastify'
import { Hono } from 'hono'
import Koa from 'koa'
import { afterEach, describe, expect, it } from 'vitest'
import { httpCache as forExpress } from '../../src/adapters/express.ts'
import { withHttpCache } from '../../src/adapters/fetch.ts'
import { httpCache as forFastify } from '../../src/adapters/fastify.ts'
import { httpCache as forHono } from '../../src/adapters/hono.ts'
import { httpCache as forKoa } from '../../src/adapters/koa.ts'
import { createCache, type Cache } from '../../src/index.ts'
import { connection, get } from '../support/raw-http.ts'

const open: (() => unknown)[] = []
afterEach(async () => {
  for (const end of open.splice(0).toReversed()) await end()
})

function memory(): Cache {
  const cache = createCache({ namespace: 'found', ttl: '60s', jitter: 0, earlyRefresh: false })
  open.push(() => cache.close())
  return cache
}

async function listening(server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  open.push(() => {
    server.closeAllConnections()
    return server.close()
  })
  return (server.address() as AddressInfo).port
}

type Handle = (req: IncomingMessage, res: ServerResponse) => unknown

/** As the plugins for WebSockets do it: the application is asked with a response on the socket. */
function upgrading(handle: Handle): Server {
  const server = createServer((_, res) => void res.end())
  server.on('upgrade', (req: IncomingMessage, socket) => {
    const res = new ServerResponse(req)
    res.assignSocket(socket as never)
    open.push(() => socket.destroy())
    void handle(req, res)
  })
  return server
}

const agreed =
  'HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n'

function agree(res: ServerResponse): void {
  res.socket!.write(agreed)
}

it('T136 two versions of a route of Fastify never share what they keep', async () => {
  const app = Fastify()
  open.push(() => app.close())
  await app.register(forFastify, { cache: memory() })
  for (const version of ['1.0.0', '2.0.0']) {
    app.get('/', { constraints: { version } }, async () => version)
  }
  for (let n = 0; n < 2; n++) {
    for (const version of ['1.0.0', '2.0.0']) {
      const asked = { url: '/', headers: { 'accept-version': version } }
      const { body, headers } = await app.inject(asked)
      expect(body).toBe(version)
      expect(headers['vary']).toBe('accept-version')
      expect(headers['cache-status']).toContain(n === 0 ? 'fwd=miss' : 'hit')
    }
  }
})

it.each([
  ['nothing', async () => undefined as unknown as Response],
  [
    'what has been read',
    async () => {
      const response = new Response('read')
      await response.text()
      return response
    },
  ],
])(
  'a handler on Fetch that gives %s fails for each who asks, and keeps nobody',
  async (_, give) => {
    let runs = 0
    const handle = withHttpCache(
      () => {
        runs += 1
        return give()
      },
      { cache: memory() },
    )
    const asked = () => handle(new Request('http://site.test/'))
    await expect(asked()).rejects.toThrow(TypeError)
    await expect(asked()).rejects.toThrow(TypeError)
    expect(runs).toBe(2)
  },
)

describe('WebSockets', () => {
  const apps: Readonly<Record<string, () => Server | Promise<Server>>> = {
    express: () => {
      const app = express()
      app.use(forExpress({ cache: memory() }))
      app.get('/chat', (_, res) => agree(res))
      return upgrading(app as unknown as Handle)
    },
    fastify: async () => {
      const app = Fastify()
      await app.register(forFastify, { cache: memory() })
      app.get('/chat', (_, reply) => {
        reply.hijack()
        agree(reply.raw)
      })
      await app.ready()
      return upgrading((req, res) => app.routing(req, res))
    },
    koa: () => {
      const app = new Koa()
      app.use(forKoa({ cache: memory() }))
      app.use(async (ctx) => {
        ctx.respond = false
        agree(ctx.res)
      })
      return upgrading(app.callback())
    },
    hono: () => {
      const app = new Hono<{ Bindings: { res: ServerResponse } }>()
      app.use(forHono({ cache: memory() }))
      app.get('/chat', (c) => {
        agree(c.env.res)
        return c.body(null)
      })
      return upgrading((req, res) => {
        const headers = { upgrade: req.headers.upgrade!, host: 'site.test' }
        return app.fetch(new Request('http://site.test/chat', { headers }), { res })
      })
    },
  }
  it.each(Object.keys(apps))('each client of %s is given a connection of its own', async (name) => {
    const port = await listening(await apps[name]!())
    for (let n = 0; n < 3; n++) {
      const to = connection(port)
      open.push(() => to.socket.destroy())
      to.send(get('/chat', 'Connection: Upgrade', 'Upgrade: websocket'))
      expect((await to.answer()).status).toBe(101)
    }
  })
})
