// One process of a fleet that captures a database's changes: a cache on the shared Redis, loaders that
// read the rows, readers that never stop, a capture. Speaks with its parent over IPC.

import { createCache } from 'breakwater'
import { redisStore } from 'breakwater/ioredis'
import { expire, invalidate, invalidateTags, onTable, postgresChanges } from 'breakwater/postgres'
import { Redis } from 'ioredis'
import pg from 'pg'
import { answer } from './answering.mjs'

const { redis, connection, mode, name, ids, readers, heartbeat } = JSON.parse(process.argv[2])
const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms))
const client = new Redis(redis)
client.on('error', () => {})
const pool = new pg.Pool({ ...connection, max: 4 })
pool.on('error', () => {})
const cache = createCache({
  namespace: name,
  ttl: '10m',
  staleWhileRevalidate: '1m',
  store: redisStore({ client }),
})
const product = cache.define({
  name: 'product',
  load: async (id) => {
    const { rows } = await pool.query('SELECT category, version FROM products WHERE id = $1', [id])
    return rows[0] ?? null
  },
})
const category = cache.define({
  name: 'category',
  load: async (id) => {
    const sql =
      'SELECT count(*)::int AS n, coalesce(sum(version), 0)::int AS sum FROM products WHERE category = $1'
    return (await pool.query(sql, [id])).rows[0]
  },
  tags: (_, id) => [`category:${id}`],
})
const changes = postgresChanges({
  cache,
  connection,
  mode,
  name,
  heartbeat,
  tables: [
    onTable('products', {
      columns: ['id', 'category'],
      affects: [product, category],
      change: ({ row, old }) => [
        ...[row, old].flatMap((one) => (one ? [invalidateTags(`category:${one.category}`)] : [])),
        ...(row?.id === 1 ? [expire(product, 1)] : []),
        ...[row, old].flatMap((one) => (one ? [invalidate(product, one.id)] : [])),
      ],
    }),
  ],
})
const found = { reads: 0, errors: [], gaps: [], states: [] }
cache.on('changesGap', ({ why }) => found.gaps.push(why))
cache.on('changes', ({ state, why }) => {
  found.states.push(state)
  process.send?.({ type: 'state', state, why })
})

let running = true
const reading = Array.from({ length: readers }, async (_, reader) => {
  while (running) {
    const id = ids[Math.floor(Math.random() * ids.length)]
    try {
      if (reader % 4 === 0) await category.get(`c${id % 7}`)
      else await product.get(id)
      found.reads++
    } catch (error) {
      found.errors.push(String(error?.stack ?? error))
    }
    await sleep(Math.random() * 4)
  }
})

const commands = {
  health: () => cache.health(),
  found: () => found,
  async stopReading() {
    running = false
    await Promise.all(reading)
    await cache.idle()
  },
  peek: ({ of }) => product.peek(of),
  held: async () =>
    Promise.all(
      ids.map(async (id) => {
        const seen = await product.peek(id)
        return seen.state === 'missing' ? 'missing' : seen.value
      }),
    ),
  heldCategories: async () =>
    Promise.all(
      [0, 1, 2, 3, 4, 5, 6].map(async (id) => {
        const seen = await category.peek(`c${id}`)
        return seen.state === 'missing' ? 'missing' : seen.value
      }),
    ),
  answers: async () => Promise.all(ids.map((id) => product.get(id))),
  async close() {
    running = false
    await cache.close()
    client.disconnect()
    await pool.end()
    setImmediate(() => process.disconnect())
  },
}

answer(commands)
await changes.start()
while (cache.health().bus !== 'up') await sleep(5)
process.send({ type: 'ready' })
