// Fills the shop and calibrates it: rows are added until the trending query takes about as long as
// wanted on this machine, alone. Also measures how many such queries the machine answers per second,
// since the load is set in multiples of that.

import pg, { type ClientConfig } from 'pg'
import { catalogue, categories, ordersBatch, statistics, stock, tables } from './schema.ts'
import { trendingSql } from './queries.ts'

export interface Shop {
  readonly schema: string
  readonly orders: number
  readonly queryMs: number
  /** Trending queries per second that the database manages, several at once. */
  readonly capacity: number
  /** For every later connection: finds the schema, plans without parallel workers. */
  readonly config: ClientConfig
  drop(): Promise<void>
}

const mostOrders = 1_000_000

export async function buildShop(options: {
  config: ClientConfig
  schema: string
  firstOrders: number
  targetMs: number
  say: (text: string) => void
}): Promise<Shop> {
  const { schema, firstOrders, targetMs, say } = options
  // One query, one core, and the same plan each time: nothing here depends on how many workers the
  // server has to spare.
  const flags = `-c search_path=${schema} -c jit=off -c max_parallel_workers_per_gather=0 -c work_mem=64MB`
  const config: ClientConfig = { ...options.config, options: flags }
  const client = new pg.Client(config)
  client.on('error', () => undefined) // interrupted: whoever waits for an answer learns it there
  await client.connect()
  const drop = async (): Promise<void> => {
    const dropper = new pg.Client(config)
    await dropper.connect()
    await dropper.query(
      'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = $1',
      [schema],
    )
    await dropper.query(`DROP SCHEMA IF EXISTS ${schema} CASCADE`)
    await dropper.end()
  }
  try {
    await client.query(`CREATE SCHEMA ${schema}; SELECT setseed(0.42); ${tables}`)
    await client.query(catalogue, [categories])
    await client.query(stock)
    let orders = firstOrders
    say(`filling the shop: ${orders.toLocaleString('en')} orders`)
    await client.query(ordersBatch(1, orders) + statistics)
    let queryMs = await timeQuery(client)
    while (queryMs < targetMs * 0.9 && orders < mostOrders) {
      const wanted = Math.min(mostOrders, Math.ceil((orders * targetMs * 1.03) / queryMs))
      say(
        `the query takes ${Math.round(queryMs)} ms; growing to ${wanted.toLocaleString('en')} orders`,
      )
      await client.query(ordersBatch(orders + 1, wanted) + statistics)
      orders = wanted
      queryMs = await timeQuery(client)
    }
    const capacity = await measureCapacity(config)
    return { schema, orders, queryMs, capacity, config, drop }
  } catch (error) {
    await drop().catch(() => undefined)
    throw error
  } finally {
    await client.end()
  }
}

/** The quickest of a few: what else runs on the machine can only add. */
async function timeQuery(client: pg.Client): Promise<number> {
  let quickest = Number.POSITIVE_INFINITY
  for (let run = 0; run < 4; run++) {
    const begun = performance.now()
    await client.query(trendingSql, [categories[0], 0])
    quickest = Math.min(quickest, performance.now() - begun)
  }
  return quickest
}

async function measureCapacity(config: ClientConfig): Promise<number> {
  const pool = new pg.Pool({ ...config, max: 4 })
  pool.on('error', () => undefined)
  try {
    await Promise.all(Array.from({ length: 4 }, () => pool.query('SELECT 1')))
    let best = 0
    for (let round = 0; round < 2; round++) {
      const begun = performance.now()
      const queries = Array.from({ length: 4 }, () => pool.query(trendingSql, [categories[0], 0]))
      await Promise.all(queries)
      best = Math.max(best, 4000 / (performance.now() - begun))
    }
    return best
  } finally {
    await pool.end()
  }
}
