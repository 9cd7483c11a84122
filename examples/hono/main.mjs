// A small shop's API on Hono, behind a response cache:
//
//   PORT=3000 node examples/hono/main.mjs
//   REDIS_URL=redis://localhost:6379 PORT=3000 node examples/hono/main.mjs

import { setTimeout as pause } from 'node:timers/promises'
import { serve } from '@hono/node-server'
import { createCache } from 'breakwater'
import { httpCache } from 'breakwater/hono'
import { redisStore } from 'breakwater/ioredis'
import { Hono } from 'hono'
import { Redis } from 'ioredis'

const { PORT = '3000', REDIS_URL } = process.env
const client = REDIS_URL === undefined ? undefined : new Redis(REDIS_URL)
const cache = createCache({
  namespace: 'shop',
  ttl: '10s',
  store: client && redisStore({ client }),
})

const app = new Hono()

const cached = httpCache({
  cache,
  staleWhileRevalidate: '1m',
  staleIfError: '1h',
  query: { ignore: ['utm_*'] },
  // A refresh that nobody waits for goes through the whole application.
  fetch: (request) => app.fetch(request),
})
app.use('/products/*', cached)

// Runs once for all who ask at the same time.
app.get('/products/:name', async (c) => {
  const name = c.req.param('name')
  await pause(200) // the database
  c.header('Surrogate-Key', `product:${name}`)
  return c.json({ name, price: 49, at: new Date().toISOString() })
})

// The price has changed: the next visitor sees it.
app.put('/products/:name', async (c) => {
  await cached.purgeTags(`product:${c.req.param('name')}`)
  return c.body(null, 204)
})

const server = serve({ fetch: app.fetch, port: Number(PORT) }, ({ port }) => {
  console.log(`The shop listens on http://localhost:${port}/products/keyboard`)
})

process.once('SIGTERM', () => {
  server.close(() => {
    void cache.close().finally(() => client?.disconnect())
  })
  server.closeIdleConnections()
})
