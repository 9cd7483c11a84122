// A small shop on Fastify: its pages are made once, however many ask, and kept for half a minute.
// `PORT=3000 node examples/fastify/main.mjs`; with REDIS_URL, what is kept is shared.

import Fastify from 'fastify'
import { Redis } from 'ioredis'
import { createCache } from 'breakwater'
import { httpCache } from 'breakwater/fastify'
import { redisStore } from 'breakwater/ioredis'

const { PORT = '3000', REDIS_URL } = process.env
const client = REDIS_URL === undefined ? undefined : new Redis(REDIS_URL)
const cache = createCache({
  namespace: 'shop',
  ttl: '30s',
  staleWhileRevalidate: '5m',
  ...(client && { store: redisStore({ client }) }),
})

const prices = new Map([
  ['keyboard', 49],
  ['mouse', 19],
])

const app = Fastify({ forceCloseConnections: true })
await app.register(httpCache, { cache, query: { ignore: ['utm_*'] } })

app.get('/products/:id', async (request, reply) => {
  const { id } = request.params
  if (!prices.has(id)) return reply.code(404).send({ error: 'no such product' })
  reply.header('surrogate-key', `product-${id}`)
  return { id, price: prices.get(id), at: Date.now() }
})

app.put('/products/:id/price/:price', async (request) => {
  const { id, price } = request.params
  prices.set(id, Number(price))
  await app.httpCache.purgeTags(`product-${id}`)
  return { id, price: prices.get(id) }
})

app.get('/stock', { config: { cache: { ttl: '1s' } } }, async () => ({ left: 3, at: Date.now() }))
app.get('/me', { config: { cache: false } }, async () => ({ at: Date.now() }))

await app.listen({ port: Number(PORT), host: '127.0.0.1' })
console.log(`listening on ${app.server.address().port}`)

process.once('SIGTERM', () => void end())

async function end() {
  await app.close()
  await cache.close()
  client?.disconnect()
}
