// The API's only way to the database: one pool for everything, and every trending query reported to
// the main process when it begins and ends *at the database*, that is after the wait for a
// connection. No contender can run one uncounted.

import pg from 'pg'
import {
  productSql,
  toTrending,
  touchSql,
  trendingSql,
  type Trending,
  type TrendingProduct,
} from '../shop/queries.ts'
import { type ApiReport, type ApiSettings, wallClock } from './messages.ts'

export interface CountedDatabase {
  trending(category: string, reason?: string): Promise<Trending>
  product(id: number): Promise<unknown>
  touch(category: string): Promise<number>
  /** So much more than what the settings say. */
  slow(moreMs: number): void
}

export async function openDatabase(
  settings: ApiSettings,
  report: (message: ApiReport) => void,
): Promise<CountedDatabase> {
  const pool = new pg.Pool({
    ...settings.database,
    max: settings.poolSize,
    idleTimeoutMillis: 0,
    application_name: settings.applicationName,
  })
  pool.on('error', () => undefined) // the main process ends left-over sessions
  const clients = await Promise.all(Array.from({ length: settings.poolSize }, () => pool.connect()))
  for (const client of clients) client.release()
  setInterval(() => report({ kind: 'pool', at: wallClock(), waiting: pool.waitingCount }), 50)

  let queries = 0
  let { extraQueryMs } = settings
  return {
    async trending(category, reason) {
      const client = await pool.connect()
      const query = ++queries
      report({ kind: 'query-began', query, at: wallClock(), reason })
      try {
        const { rows } = await client.query<TrendingProduct & { revision: number }>(trendingSql, [
          category,
          extraQueryMs / 1000,
        ])
        return toTrending(category, rows)
      } finally {
        report({ kind: 'query-ended', query, at: wallClock() })
        client.release()
      }
    },
    async product(id) {
      const { rows } = await pool.query(productSql, [id])
      return rows[0]
    },
    async touch(category) {
      const { rows } = await pool.query<{ revision: number }>(touchSql, [category])
      return rows[0]?.revision ?? 0
    },
    slow: (moreMs) => void (extraQueryMs = settings.extraQueryMs + moreMs),
  }
}
