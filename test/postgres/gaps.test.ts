// Nothing is lost silently: whatever breaks, what may have been missed is invalidated as a whole, and
// what has not reached Redis is not confirmed. By both modes, on a real PostgreSQL and Redis.

import { startTcpProxy } from '@breakwater/rig'
import { afterEach, describe, expect, it } from 'vitest'
import { invalidate, onTable, type PostgresChangesOptions } from '../../src/postgres/index.ts'
import { slotName } from '../../src/postgres/names.ts'
import { ChangesProcess } from '../support/changes-process.ts'
import { sleep, until } from '../support/open-session.ts'
import { installProducts, postgresRig, type TestDatabase } from '../support/postgres-rig.ts'

const rig = postgresRig()
const modes = ['notify', 'replication'] as const

/** A cache of products by id, that is captured. */
async function captured(
  mode: 'notify' | 'replication',
  options: Partial<PostgresChangesOptions> = {},
  given?: TestDatabase,
) {
  const db = given ?? (await rig.database())
  if (given === undefined) {
    await db.query(
      `CREATE TABLE products(id int PRIMARY KEY, n int); INSERT INTO products SELECT i, 0 FROM generate_series(1, 9) i`,
    )
  }
  const { cache, told } = db.cache()
  const product = cache.define({
    name: 'product',
    load: async (id: number) => {
      const [row] = await db.query('SELECT n FROM products WHERE id = $1', [id])
      return row?.['n'] as number | undefined
    },
  })
  const capture = db.changes(cache, {
    mode,
    tables: [
      onTable<{ id: number }>('products', {
        affects: [product],
        change: ({ row, old }) => invalidate(product, (row ?? old).id),
      }),
    ],
    ...options,
  })
  const gaps = (): string[] => told.changesGap.map(({ why }) => why)
  const live = (): Promise<void> =>
    until(
      () => capture.health().state === 'live' && capture.health().pending === 0,
      () => JSON.stringify(capture.health()),
    )
  await capture.install()
  await capture.start()
  return { db, cache, told, product, capture, gaps, live }
}

/** Changes a row and waits until the cache has heard. */
async function isHeard(
  db: TestDatabase,
  product: { get(id: number): Promise<unknown>; peek(id: number): Promise<{ state: string }> },
): Promise<void> {
  const before = (await product.get(5)) as number
  await db.query('UPDATE products SET n = n + 1 WHERE id = 5')
  for (let turn = 0; turn < 1_000; turn++) {
    if ((await product.get(5)) === before + 1) return
    await sleep(10)
  }
  throw new Error('expected the change to be heard')
}

describe.each(modes)('by %s', (mode) => {
  it('a connection that is ended is made anew, and what was changed meanwhile is not served', async () => {
    const { db, product, gaps, live } = await captured(mode)
    await live()
    expect(await product.get(1)).toBe(0)
    await db.query(
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
       WHERE datname = current_database() AND pid <> pg_backend_pid()`,
    )
    await db.query('UPDATE products SET n = 1 WHERE id = 1')
    for (let turn = 0; (await product.get(1)) !== 1; turn++) {
      expect(turn).toBeLessThan(1_000)
      await sleep(10)
    }
    await live()
    expect(gaps().slice(1)).toEqual(mode === 'notify' ? ['the connection was lost'] : [])
    await isHeard(db, product)
  })

  it('a server that crashes and comes back is found again, and nothing is missed', async () => {
    const { db, cache, product, live } = await captured(mode)
    await live()
    expect(await product.get(1)).toBe(0)
    await rig.server.kill()
    await until(() => cache.health().status === 'degraded')
    expect(await product.get(1)).toBe(0)
    await rig.server.start()
    await db.query('UPDATE products SET n = 1 WHERE id = 1')
    await live()
    await until(() => cache.health().status === 'ok')
    // What is streamed comes in its own time.
    await expect.poll(() => product.get(1)).toBe(1)
    await isHeard(db, product)
  })

  it('T091 a server that is frozen is given up, and found again', async () => {
    const { db, capture, product, live } = await captured(mode)
    await live()
    rig.server.freeze()
    try {
      await until(() => capture.health().state === 'lost')
    } finally {
      rig.server.thaw()
    }
    await live()
    await isHeard(db, product)
  })

  it('a network that swallows everything is given up, and found again', async () => {
    const proxy = await startTcpProxy({ host: '127.0.0.1', port: rig.server.port })
    const db = await rig.database()
    await db.query(
      'CREATE TABLE products(id int PRIMARY KEY, n int); INSERT INTO products VALUES (5, 0)',
    )
    const connection = { ...db.connection, port: proxy.connection.port }
    const { capture, product, live } = await captured(mode, { connection }, db)
    await live()
    proxy.severSilently()
    proxy.blackhole(true)
    await until(() => capture.health().state === 'lost')
    proxy.blackhole(false)
    await live()
    await isHeard(db, product)
    await capture.close()
    await proxy.close()
  })

  it('while Redis is down nothing is confirmed, and afterwards nothing is lost', async () => {
    const { db, cache, capture, product, live } = await captured(mode)
    await live()
    await product.get(1)
    await rig.redis.kill()
    await db.query('UPDATE products SET n = 7 WHERE id = 1')
    await until(() => capture.health().pending > 0)
    await sleep(300)
    expect(capture.health()).toMatchObject({ state: 'live', pending: 1 })
    if (mode === 'replication') {
      const [slot] = await db.query(
        `SELECT pg_wal_lsn_diff(pg_current_wal_lsn(), confirmed_flush_lsn)::int AS behind
         FROM pg_replication_slots WHERE slot_name = $1`,
        [slotName(db.name, db.name)],
      )
      expect(slot!['behind']).toBeGreaterThan(0)
    }
    await rig.redis.restart()
    await until(() => capture.health().pending === 0)
    expect(capture.health().changes).toBe(1)
    await until(() => cache.health().status === 'ok')
    expect(await product.get(1)).toBe(7)
    await isHeard(db, product)
  })

  it('more changes than are kept while Redis is down become whole definitions', async () => {
    const { db, capture, product, gaps, live, cache } = await captured(mode, { maxPending: 5 })
    await live()
    await product.get(1)
    await rig.redis.kill()
    await db.query('UPDATE products SET n = 7')
    await until(() => gaps().includes('more changes than are kept'))
    expect(capture.health().pending).toBe(1)
    await rig.redis.restart()
    await until(() => capture.health().pending === 0 && cache.health().status === 'ok')
    expect(await product.get(1)).toBe(7)
  })

  it('two of one name: one works, the other waits, and takes over when the first is closed', async () => {
    const first = await captured(mode)
    await first.live()
    const second = await captured(mode, {}, first.db)
    expect(second.capture.health().state).toBe('standby')
    expect(second.cache.health().status).toBe('ok')
    await isHeard(first.db, second.product)
    expect(second.capture.health().changes).toBe(0)
    await first.capture.close()
    await second.live()
    await isHeard(first.db, second.product)
    await isHeard(first.db, first.product)
  })

  it('close ends all of its connections and nothing comes after it; start and close may race', async () => {
    const { db, capture, cache, told, live } = await captured(mode)
    await live()
    await capture.close()
    await capture.close()
    const ours = async (): Promise<number> => {
      const sql = `SELECT count(*)::int AS n FROM pg_stat_activity WHERE application_name = $1`
      const [row] = await db.query(sql, [`breakwater ${db.name}`])
      return row!['n'] as number
    }
    for (let turn = 0; (await ours()) > 0; turn++) {
      expect(turn).toBeLessThan(100)
      await sleep(10)
    }
    await db.query('UPDATE products SET n = 3')
    await sleep(500)
    expect(told.changesTaken.every(({ changes }) => changes === 0)).toBe(true)
    expect(cache.health()).toMatchObject({ status: 'ok', changes: [] })
    await expect(capture.start()).rejects.toMatchObject({ code: 'CLOSED' })
    for (const delay of [0, 1, 5, 20, 50]) {
      const other = await rig.database()
      await other.query('CREATE TABLE products(id int PRIMARY KEY)')
      const made = other.cache().cache
      const product = made.define({ name: 'product', load: async (id: number) => id })
      const table = onTable<{ id: number }>('products', { affects: [product], change: () => [] })
      const racing = other.changes(made, { mode, tables: [table] })
      await racing.install()
      const started = racing.start()
      await sleep(delay)
      await made.close()
      await started
      expect(racing.health().state).toBe('closed')
    }
  })

  it('T159 a capture keeps no process alive, and a table that is another one is a gap', async () => {
    const { db, gaps, live, product } = await captured(mode)
    await live()
    await db.query(
      'BEGIN; DROP TABLE products; CREATE TABLE products(id int PRIMARY KEY, n int); COMMIT',
    )
    await db.query('INSERT INTO products VALUES (5, 1)')
    const again = await captured(mode, {}, db)
    await again.capture.close()
    await until(() => gaps().length > 1)
    await live()
    await isHeard(db, product)
  })

  it('T084 a process that captures and is stopped is replaced by another', async () => {
    const db = await rig.database()
    await db.query('CREATE TABLE products(id int PRIMARY KEY, category text, version int)')
    await installProducts(db, mode)
    const plan = { redis: rig.redis.url, connection: db.connection, mode, name: db.name, ids: [1], readers: 0, heartbeat: '200ms' } // prettier-ignore
    const [a, b] = await Promise.all([ChangesProcess.start(plan), ChangesProcess.start(plan)])
    processes.push(a, b)
    const [one, other] = a.state === 'live' ? [a, b] : [b, a]
    one.signal('SIGSTOP')
    try {
      await until(() => other.state === 'live')
    } finally {
      one.signal('SIGCONT')
    }
    await until(() => one.state === 'standby')
  })
})

const processes: ChangesProcess[] = []
afterEach(async () => {
  await Promise.all(processes.splice(0).map((process) => process.stop()))
})

describe('by replication alone', () => {
  const slotOf = async (db: TestDatabase) => {
    const [slot] = await db.query(
      `SELECT active, active_pid, confirmed_flush_lsn::text AS at FROM pg_replication_slots WHERE slot_name = $1`,
      [slotName(db.name, db.name)],
    )
    return slot
  }

  it('what was changed while nobody captured comes from the slot, without a gap', async () => {
    const first = await captured('replication')
    await first.live()
    await first.capture.close()
    await first.db.query('UPDATE products SET n = 4 WHERE id <= 3')
    const second = await captured('replication', {}, first.db)
    await until(() => second.capture.health().changes === 3)
    expect(second.gaps()).toEqual([])
  })

  it('a slot that was dropped is a gap, and made anew', async () => {
    const { db, capture, product, live } = await captured('replication')
    await live()
    await capture.close()
    await product.get(1)
    await db.query(`SELECT pg_drop_replication_slot('${slotName(db.name, db.name)}')`)
    await db.query('UPDATE products SET n = 1 WHERE id = 1')
    const again = await captured('replication', {}, db)
    await again.live()
    expect(again.gaps()).toEqual(['the first start'])
    expect(await product.get(1)).toBe(1)
    await isHeard(db, again.product)
  })

  it('a crash between making a slot and the end of its gap leaves no slot: the gap is seen again', async () => {
    const db = await rig.database()
    await db.query(
      'CREATE TABLE products(id int PRIMARY KEY, n int); INSERT INTO products VALUES (5, 0)',
    )
    const slots = async (): Promise<unknown[]> => {
      const sql = `SELECT temporary FROM pg_replication_slots WHERE slot_name ~ $1`
      return (await db.query(sql, [`^breakwater_${db.name}(_|$)`])).map(
        ({ temporary }) => temporary,
      )
    }
    await rig.redis.kill()
    try {
      const { capture, gaps, product, live } = await captured('replication', {}, db)
      expect(capture.health()).toMatchObject({ state: 'connecting', pending: 1 })
      expect(await slots()).toEqual([true])
      await db.query(
        `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = $1`,
        [`breakwater ${db.name}`],
      )
      await until(() => gaps().length === 2)
      expect(await slots()).toEqual([true])
      await rig.redis.restart()
      await live()
      expect(await slots()).toEqual([false])
      await isHeard(db, product)
    } finally {
      await rig.redis.restart()
    }
  })

  it('a slot that holds more of the log than it may is dropped, which is a gap', async () => {
    const { db, told, gaps, live, product, cache } = await captured('replication', {
      lag: { warn: '64KiB', drop: '4MiB' },
    })
    await live()
    await product.get(1)
    await rig.redis.kill()
    await db.query('UPDATE products SET n = 1')
    await db.query('CREATE TABLE filler(t text)')
    for (let n = 0; n < 8; n++) {
      await db.query(`INSERT INTO filler SELECT repeat('x', 1000) FROM generate_series(1, 1000)`)
      await sleep(60)
    }
    await until(
      () => told.changesLag.some(({ state }) => state === 'dropped'),
      () => JSON.stringify([told.changesLag, told.changes, cache.health()]),
    )
    expect(told.changesLag[0]).toMatchObject({ state: 'over' })
    expect(cache.health().status).toBe('degraded')
    await rig.redis.restart()
    await live()
    expect(gaps().length).toBeGreaterThan(1)
    await until(() => cache.health().status === 'ok')
    expect(await product.get(1)).toBe(1)
    await isHeard(db, product)
  })

  it('a slot that is not made yet is bound as well, while Redis is down', async () => {
    const db = await rig.database()
    await db.query(
      'CREATE TABLE products(id int PRIMARY KEY, n int); INSERT INTO products VALUES (5, 0)',
    )
    await db.query('CREATE TABLE filler(t text)')
    await rig.redis.kill()
    try {
      const { told, live, product } = await captured('replication', { lag: { drop: '2MiB' } }, db)
      await db.query(`INSERT INTO filler SELECT repeat('x', 1000) FROM generate_series(1, 4000)`)
      await until(() => told.changesLag.some(({ state }) => state === 'dropped'))
      await rig.redis.restart()
      await live()
      await isHeard(db, product)
    } finally {
      await rig.redis.restart()
    }
  })

  it('the log of other tables and databases is not held on to', async () => {
    const { db, capture, live } = await captured('replication')
    await live()
    await db.query('CREATE TABLE filler(t text)')
    await db.query(`INSERT INTO filler SELECT repeat('x', 1000) FROM generate_series(1, 5000)`)
    const [{ at }] = (await db.query('SELECT pg_current_wal_lsn()::text AS at')) as [{ at: string }]
    for (let turn = 0; ; turn++) {
      const [row] = await db.query(
        `SELECT confirmed_flush_lsn >= $2 AS done FROM pg_replication_slots WHERE slot_name = $1`,
        [slotName(db.name, db.name), at],
      )
      if (row!['done'] === true) break
      expect(turn).toBeLessThan(500)
      await sleep(10)
    }
    expect(capture.health().changes).toBe(0)
  })

  it('who holds the slot without leading is ended', async () => {
    const { db, capture, live, product } = await captured('replication')
    await live()
    const before = (await slotOf(db))!['active_pid']
    await db.query('SELECT pg_terminate_backend($1)', [before])
    await until(() => capture.health().state !== 'live')
    await live()
    expect((await slotOf(db))!['active_pid']).not.toBe(before)
    await isHeard(db, product)
  })
})
