// A small shop's API on Koa, behind a response cache:
//
//   PORT=3000 node examples/koa/main.mjs
//   REDIS_URL=redis://localhost:6379 PORT=3000 node examples/koa/main.mjs

import { createServer } from 'node:http'
import { setTimeout as pause } from 'node:timers/promises'
import { createCache } from 'breakwater'
import { redisStore } from 'breakwater/ioredis'
import { httpCache } from 'breakwater/koa'
import { Redis } from 'ioredis'
import Koa from 'koa'

const { PORT = '3000', REDIS_URL } = process.env
const client = REDIS_URL === undefined ? undefined : new Redis(REDIS_URL)
const cache = createCache({
  namespace: 'shop',
  ttl: '10s',
  store: client && redisStore({ client }),
})

const app = new Koa()

// Runs at each request, whoever answers it.
app.use(async (ctx, next) => {
  const start = performance.now()
  await next()
  ctx.set('Server-Timing', `app;dur=${(performance.now() - start).toFixed(1)}`)
})

app.use(
  httpCache({
    cache,
    staleWhileRevalidate: '1m',
    staleIfError: '1h',
    query: { ignore: ['utm_*'] },
  }),
)

// What is from here on runs once for all who ask at the same time.
app.use(async (ctx) => {
  const [, folder, name] = ctx.path.split('/')
  if (folder !== 'products' || !name) ctx.throw(404, 'No such page.')
  await pause(200) // the database
  ctx.set('Surrogate-Key', `product:${name}`)
  ctx.body = { name, price: 49, at: new Date().toISOString() }
})

const run = app.callback()
const server = createServer((req, res) => void run(req, res))
server.listen(Number(PORT), () => {
  console.log(`The shop listens on http://localhost:${server.address().port}/products/keyboard`)
})

process.once('SIGTERM', () => {
  server.close(() => {
    void cache.close().finally(() => client?.disconnect())
  })
  server.closeIdleConnections()
})
