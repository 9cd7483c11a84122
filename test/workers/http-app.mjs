// One process of an application behind a response cache: its routes ask an origin, which counts.

import { createServer, request } from 'node:http'
import { createCache } from 'breakwater'
import { httpCache } from 'breakwater/http'
import { redisStore } from 'breakwater/ioredis'
import { Redis } from 'ioredis'
import { answer } from './answering.mjs'

const { url, origin, cacheOptions } = JSON.parse(process.argv[2])
const client = new Redis(url)
client.on('error', () => {})
const cache = createCache({
  namespace: 'http-fleet',
  ttl: '60s',
  jitter: 0,
  earlyRefresh: false,
  ...cacheOptions,
  store: redisStore({ client }),
})

const run = (req, res) => {
  const forward = (visitor, own) => {
    const { 'x-visitor': who = '' } = visitor.headers
    const asked = request(`${origin}${visitor.url}`, { headers: { 'x-visitor': who } }, (got) => {
      const { connection: _, 'keep-alive': __, ...fields } = got.headers
      own.writeHead(got.statusCode, fields)
      got.pipe(own)
    })
    asked.on('error', () => own.destroy())
    asked.end()
  }
  cached(req, res, () => forward(req, res))
}
const cached = httpCache({ cache, dispatch: run })
const server = createServer(run)
await new Promise((resolve) => {
  server.listen({ port: 0, host: '127.0.0.1', backlog: 2_000 }, resolve)
})
while (cache.health().bus !== 'up') await new Promise((resolve) => setTimeout(resolve, 5))
process.send({ type: 'ready', port: server.address().port })

answer({
  purge: ({ at }) => cached.purge(at),
  expire: ({ at }) => cached.purge(at, { soft: true }),
  async close() {
    server.close()
    server.closeAllConnections()
    await cache.close({ timeout: 100 })
    client.disconnect()
    setImmediate(() => process.disconnect())
  },
})
