// A small shop's API on Express, behind a response cache:
//
//   PORT=3000 node examples/express/main.mjs
//   REDIS_URL=redis://localhost:6379 PORT=3000 node examples/express/main.mjs

import { setTimeout as pause } from 'node:timers/promises'
import { createCache } from 'breakwater'
import { httpCache } from 'breakwater/express'
import { redisStore } from 'breakwater/ioredis'
import express from 'express'
import { Redis } from 'ioredis'

const { PORT = '3000', REDIS_URL } = process.env
const client = REDIS_URL === undefined ? undefined : new Redis(REDIS_URL)
const cache = createCache({
  namespace: 'shop',
  ttl: '10s',
  store: client && redisStore({ client }),
})

const app = express()
app.disable('x-powered-by')

const cached = httpCache({
  cache,
  staleWhileRevalidate: '1m',
  staleIfError: '1h',
  query: { ignore: ['utm_*'] },
})
app.use('/products', cached)

// Runs once for all who ask at the same time.
app.get('/products/:name', async (req, res) => {
  const { name } = req.params
  await pause(200) // the database
  res.set('Surrogate-Key', `product:${name}`)
  res.json({ name, price: 49, at: new Date().toISOString() })
})

// The price has changed: the next visitor sees it.
app.put('/products/:name', async (req, res) => {
  await cached.purgeTags(`product:${req.params.name}`)
  res.sendStatus(204)
})

const server = app.listen(Number(PORT), () => {
  console.log(`The shop listens on http://localhost:${server.address().port}/products/keyboard`)
})

process.once('SIGTERM', () => {
  server.close(() => {
    void cache.close().finally(() => client?.disconnect())
  })
  server.closeIdleConnections()
})
