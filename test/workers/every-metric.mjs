// A process in which everything happens that metrics tell of, again and again: what the lab's one page
// has no need of. It can be scraped like the lab's.

import { createServer } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { createCache } from 'breakwater'
import { memoryGuard } from 'breakwater/guard'
import { redisStore } from 'breakwater/ioredis'
import { invalidate, onTable, postgresChanges } from 'breakwater/postgres'
import { prometheusMetrics } from 'breakwater/prometheus'
import { Redis } from 'ioredis'
import pg from 'pg'
import { Registry } from 'prom-client'
import { answer } from './answering.mjs'

const { redis, connection } = JSON.parse(process.argv[2])
process.on('disconnect', () => process.exit())
const client = new Redis(redis)
client.on('error', () => {})
const pool = new pg.Pool({ ...connection, max: 2 })
pool.on('error', () => {})

const cache = createCache({
  namespace: 'everything',
  ttl: '10s',
  jitter: 0,
  memory: { maxEntries: 50 },
  store: redisStore({ client }),
})
/** With room for one load, and no patience. */
const narrow = createCache({ namespace: 'narrow', ttl: '1s', limit: { concurrency: 1, queue: 20 } })

let writes = 0
const known = memoryGuard({ capacity: 100, errorRate: 0.01 })
await known.addMany([1, 2, 3])
const product = cache.define({
  name: 'product',
  load: async (id) => (id === 404 ? null : { id, writes }),
  tags: (_, id) => [`shelf:${id % 2}`],
  verify: { sample: 1, perSecond: 50 },
})
const guarded = cache.define({ name: 'guarded', load: async (id) => id, guard: known })
const stale = cache.define({
  name: 'stale',
  load: () => sleep(20, 'old'),
  ttl: 50,
  staleWhileRevalidate: '1m',
})
const drifting = cache.define({ name: 'drifting', load: async () => writes, verify: 1 })
let isBroken = false
const broken = cache.define({
  name: 'broken',
  load: async () => {
    if (isBroken) throw new Error('the source is away')
    return 1
  },
  ttl: 50,
  staleIfError: '1m',
  staleWhileRevalidate: 100,
  errorBackoff: 50,
})
const hopeless = cache.define({
  name: 'hopeless',
  load: async () => {
    throw new Error('never')
  },
})
const stuck = cache.define({
  name: 'stuck',
  load: () => sleep(200, 'late'),
  loadTimeout: 50,
  ttl: 50,
})
const odd = cache.define({ name: 'odd', load: async () => ({ not: () => 'storable' }) })
const contested = cache.define({ name: 'contested', load: () => sleep(60, 'changed'), ttl: '1m' })
cache.define({
  name: 'ahead',
  load: async (id) => {
    if (id === 'seldom' && isBroken) throw new Error('not now')
    return id
  },
  ttl: '1m',
  precompute: { every: 300, args: ['soon', 'seldom'], onMiss: 'wait', alerts: { failures: 1 } },
})
const slow = narrow.define({ name: 'slow', load: () => sleep(100, 'late'), ttl: 50 })

const changes = postgresChanges({
  cache,
  connection,
  mode: 'notify',
  name: 'everything',
  tables: [
    onTable('public.shelves', {
      columns: ['id'],
      affects: [product],
      change: ({ row, old }) => [invalidate(product, (row ?? old).id)],
    }),
  ],
})
await pool.query('CREATE TABLE public.shelves (id int PRIMARY KEY, n int NOT NULL DEFAULT 0)')
await pool.query('INSERT INTO public.shelves (id) SELECT generate_series(1, 9)')
await changes.install()
await changes.start()

/** One of each. */
async function once(turn) {
  const calls = [
    product.get(1),
    product.get(1), // together with the first
    product.get(2 + (turn % 200)), // more than memory has room for
    product.get(404),
    guarded.get(1),
    guarded.get(4711),
    stale.get(),
    broken.get(),
    hopeless.get(),
    stuck.get(),
    drifting.get(),
    odd.get(),
    contested.get(),
    contested.invalidate(), // while it loads
    cache.getOrLoad(`one-off:${turn}`, async () => turn),
    ...[1, 2, 3].map((n) => slow.get(`${turn} ${n}`)),
  ]
  isBroken = turn % 20 > 7
  writes++ // what was served is wrong from now on, and nobody is told
  if (turn % 5 === 0) calls.push(product.invalidate(2), cache.invalidateTags('shelf:0'))
  if (turn % 50 === 49) calls.push(cache.clear())
  if (turn % 2 === 0) calls.push(product.refresh(3))
  if (turn % 4 === 0) calls.push(pool.query('UPDATE public.shelves SET n = n + 1 WHERE id < 4'))
  await Promise.allSettled(calls)
}

const registry = new Registry()
for (const one of [cache, narrow]) prometheusMetrics({ cache: one, registry })
const server = createServer((_, response) => {
  void registry.metrics().then((text) => {
    response.setHeader('content-type', registry.contentType)
    response.end(text)
  })
})
await new Promise((listening) => server.listen(0, '127.0.0.1', listening))
answer({ port: () => server.address().port, close: () => process.exit() })
process.send({ type: 'ready' })
for (let turn = 0; ; turn++) {
  await Promise.all([once(turn), sleep(100)])
}
