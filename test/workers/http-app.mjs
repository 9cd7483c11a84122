// One process of an application behind a response cache: its routes ask an origin, which counts.

import { createServer, request } from 'node:http'
import { createCache } from 'breakwater'
import { httpCache } from 'breakwater/http'
import { redisStore } from 'breakwater/ioredis'
import { Redis } from 'ioredis'
import { answer } from './answering.mjs'

const { url, origin, options, isCached } = JSON.parse(process.argv[2])
const client = new Redis(url)
const cache = createCache({
  namespace: 'http-fleet',
  ttl: '60s',
  jitter: 0,
  earlyRefresh: false,
  // A thousand visitors at once on two cores: nobody looks at how quick Redis is here.
  storeTimeout: '5s',
  store: redisStore({ client }),
})

const run = (req, res) => {
  const forward = (visitor, own) => {
    const { 'x-visitor': who = '' } = visitor.headers
    const asked = request(`${origin}${visitor.url}`, { headers: { 'x-visitor': who } }, (got) => {
      own.writeHead(got.statusCode, got.headers)
      got.pipe(own)
    })
    asked.on('error', () => own.destroy())
    asked.end()
  }
  if (isCached) cached(req, res, () => forward(req, res))
  else forward(req, res)
}
const cached = httpCache({ cache, ...options, dispatch: run })
const server = createServer(run)
server.listen({ port: 0, host: '127.0.0.1', backlog: 2_000 }, async () => {
  while (cache.health().bus !== 'up') await new Promise((resolve) => setTimeout(resolve, 5))
  process.send({ type: 'ready', port: server.address().port })
})

answer({
  purge: ({ at }) => cached.purge(at),
  expire: ({ at }) => cached.purge(at, { soft: true }),
  async close() {
    server.close()
    server.closeAllConnections()
    await cache.close()
    await client.quit()
    setImmediate(() => process.disconnect())
  },
})
