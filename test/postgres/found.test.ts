// Faults that were found by attacking the capture when it stood; each with the right value.

import { describe, expect, it } from 'vitest'
import { invalidate, onTable } from '../../src/postgres/index.ts'
import { slotName } from '../../src/postgres/names.ts'
import type { Cache } from '../../src/index.ts'
import { sleep, until } from '../support/open-session.ts'
import { postgresRig, type TestDatabase } from '../support/postgres-rig.ts'

const rig = postgresRig()

function capturing(
  db: TestDatabase,
  cache: Cache,
  mode: 'notify' | 'replication',
  options: {
    columns?: readonly string[]
    connection?: object
    settle?: number
    all?: boolean
  } = {},
) {
  const { columns, connection, settle, all = false } = options
  const item = cache.define({
    name: 'item',
    load: async (id: number) =>
      (await db.query('SELECT n FROM items WHERE id = $1', [id]))[0]?.['n'],
  })
  const rows: unknown[] = []
  const capture = db.changes(cache, {
    mode,
    ...(connection === undefined ? {} : { connection: { ...db.connection, ...connection } }),
    settle,
    tables: [
      onTable<Record<string, unknown>>('items', {
        columns,
        affects: [all ? cache : item],
        change: ({ row, old }) => {
          rows.push(row ?? old)
          return invalidate(item, Number((row ?? old)['id']))
        },
      }),
    ],
  })
  const live = (): Promise<void> =>
    until(
      () => capture.health().state === 'live' && capture.health().pending === 0,
      () => JSON.stringify(capture.health()),
    )
  return { item, capture, rows, live }
}

const table =
  'CREATE TABLE items(id int PRIMARY KEY, n int, other int); INSERT INTO items VALUES (1, 0, 0)'

describe.each(['notify', 'replication'] as const)('by %s', (mode) => {
  it('two caches of one name are both told: none waits for what the other does to its own', async () => {
    const db = await rig.database()
    await db.query(table)
    const caches = ['first', 'second'].map((namespace) => db.cache({ namespace }).cache)
    const all = caches.map((cache) => capturing(db, cache, mode))
    for (const { capture } of all) {
      await capture.install()
      await capture.start()
    }
    for (const { live, item } of all) {
      await live()
      expect(await item.get(1)).toBe(0)
    }
    await db.query('UPDATE items SET n = 1')
    for (const { capture, item } of all) {
      await until(() => capture.health().changes === 1)
      expect(await item.get(1)).toBe(1)
    }
    const slots = await db.query(`SELECT FROM pg_replication_slots WHERE slot_name = ANY ($1)`, [
      ['first', 'second'].map((namespace) => slotName(db.name, namespace)),
    ])
    expect(slots).toHaveLength(mode === 'notify' ? 0 : 2)
  })

  it('two versions that ask for different columns work side by side, whichever was installed last', async () => {
    const db = await rig.database()
    await db.query(table)
    const older = capturing(db, db.cache({ namespace: 'older' }).cache, mode, {
      columns: ['id', 'n'],
    })
    const newer = capturing(db, db.cache({ namespace: 'newer' }).cache, mode, {
      columns: ['other', 'id'],
    })
    const plain = capturing(db, db.cache({ namespace: 'plain' }).cache, mode)
    for (const { capture } of [older, newer, plain]) await capture.install()
    for (const { capture } of [older, newer, plain]) await capture.start()
    for (const { live } of [older, newer, plain]) await live()
    await db.query('UPDATE items SET n = 1')
    await until(() => [older, newer, plain].every(({ rows }) => rows.length === 1))
    expect([older, newer, plain].map(({ rows }) => rows[0])).toEqual([
      { id: 1, n: 1 },
      { other: 0, id: 1 },
      { id: 1 },
    ])
  })

  it('a part that is attached or detached is a gap of its table, and a new part stops nothing', async () => {
    const db = await rig.database()
    await db.query(
      `CREATE TABLE items(id int PRIMARY KEY, n int) PARTITION BY RANGE (id);
       CREATE TABLE items_1 PARTITION OF items FOR VALUES FROM (0) TO (10);
       INSERT INTO items VALUES (1, 0)`,
    )
    const { cache, told } = db.cache()
    const { capture, item, live } = capturing(db, cache, mode)
    await capture.install()
    await capture.start()
    await live()
    expect(await item.get(1)).toBe(0)
    await db.query('ALTER TABLE items DETACH PARTITION items_1')
    await until(() => told.changesGap.length === 2)
    await live()
    expect(await item.get(1)).toBeUndefined()
    await db.query('CREATE TABLE items_2 PARTITION OF items FOR VALUES FROM (10) TO (20)')
    await until(() => told.changesGap.length === 3)
    await live()
    await db.query('INSERT INTO items_2 VALUES (11, 1)')
    await until(() => capture.health().changes === 1)
    expect(capture.health().state).toBe('live')
  })

  it('what had been missing while another process took over is a gap all the same', async () => {
    const db = await rig.database()
    await db.query(table)
    const [one, other] = [db.cache(), db.cache()].map(({ cache }) => capturing(db, cache, mode))
    await one!.capture.install()
    await one!.capture.start()
    await one!.live()
    await other!.capture.start()
    expect(await one!.item.get(1)).toBe(0)
    expect(await other!.item.get(1)).toBe(0)
    await db.query(
      mode === 'notify'
        ? `ALTER TABLE items DISABLE TRIGGER breakwater_${db.name}_update`
        : `ALTER PUBLICATION breakwater_${db.name} DROP TABLE items`,
    )
    await db.query('UPDATE items SET n = 1')
    await until(() => one!.capture.health().state === 'refused')
    await one!.capture.install()
    await until(() => [one!, other!].some(({ capture }) => capture.health().state === 'live'))
    await until(() => [one!, other!].every(({ capture }) => capture.health().pending === 0))
    expect(await one!.item.get(1)).toBe(1)
    expect(await other!.item.get(1)).toBe(1)
  })

  it('install goes on while the capture is refused and tried again', async () => {
    const db = await rig.database()
    await db.query(table)
    const { capture, live } = capturing(db, db.cache().cache, mode)
    await capture.start().catch(() => {})
    await db.query('BEGIN; LOCK TABLE items')
    const installing = capture.install()
    await sleep(700)
    await db.query('COMMIT')
    await installing
    await live()
  })

  it('a cache as a whole may be what is affected, and a source that lags is given its time', async () => {
    const db = await rig.database()
    await db.query(table)
    const { cache } = db.cache()
    const { capture, live, item } = capturing(db, cache, mode, { all: true, settle: 300 })
    await capture.install()
    await capture.start()
    await live()
    await cache.set('other', 5)
    await item.get(1)
    await db.query('TRUNCATE items')
    await until(() => capture.health().gaps === 2 && capture.health().pending === 0)
    expect((await cache.peek('other')).state).toBe('missing')
    // What is loaded now may still be of before: it is used no longer than that.
    const from = Date.now()
    const { freshUntil } = (await item.lookup(1)) as { freshUntil: number }
    expect(freshUntil - from).toBeLessThan(1_000)
  })

  it('close in the middle of anything leaves no connection', async () => {
    const db = await rig.database()
    await db.query(table)
    const { cache } = db.cache()
    const { capture } = capturing(db, cache, mode)
    await capture.install()
    // An open transaction that has written: a slot waits for its end.
    await db.query('BEGIN; UPDATE items SET n = 1')
    const starting = capture.start()
    await sleep(400)
    await capture.close()
    await starting
    await db.query('COMMIT')
    const sql = `SELECT count(*)::int AS n FROM pg_stat_activity WHERE application_name = $1`
    for (let turn = 0; ; turn++) {
      const [row] = await db.query(sql, [`breakwater ${db.name}`])
      if (row!['n'] === 0) break
      expect(turn).toBeLessThan(200)
      await sleep(10)
    }
  })

  it('close while Redis is down and changes wait does not wait for it', async () => {
    const db = await rig.database()
    await db.query(table)
    const { cache } = db.cache()
    const { capture, live, item } = capturing(db, cache, mode)
    await capture.install()
    await capture.start()
    await live()
    await item.get(1)
    await rig.redis.kill()
    try {
      await db.query('UPDATE items SET n = 1')
      await until(() => capture.health().pending === 1)
      await cache.close({ timeout: '1s' })
      expect(capture.health().state).toBe('closed')
    } finally {
      await rig.redis.restart()
    }
    const { cache: next } = db.cache()
    const again = capturing(db, next, mode)
    await again.capture.start()
    await again.live()
    await until(() => again.capture.health().gaps + again.capture.health().changes > 0)
    expect(await again.item.get(1)).toBe(1)
  })
})

describe('by replication', () => {
  it('a publication that publishes only some rows is refused', async () => {
    const db = await rig.database()
    await db.query(table)
    const { capture } = capturing(db, db.cache().cache, 'replication')
    await capture.install()
    const [{ version }] = (await db.query(`SELECT current_setting('server_version_num')::int AS version`)) as [{ version: number }] // prettier-ignore
    if (version < 150_000) return
    await db.query(`ALTER PUBLICATION breakwater_${db.name} SET TABLE items WHERE (id > 5)`)
    await expect(capture.start()).rejects.toThrow('publishes a part of "public"."items" alone')
  })

  it('a slot of the same name in another database is not ours, and is said so', async () => {
    const [one, other] = [await rig.database(), await rig.database()]
    await other.query(`SELECT pg_create_logical_replication_slot('${slotName(one.name, one.name)}', 'pgoutput')`) // prettier-ignore
    await one.query(table)
    const { capture } = capturing(one, one.cache().cache, 'replication')
    await capture.install()
    await expect(capture.start()).rejects.toThrow("another plugin's or database's")
  })

  it('a role with a short statement_timeout makes its slot when older transactions have ended', async () => {
    const db = await rig.database()
    await db.query(`${table}; CREATE ROLE ${db.name} LOGIN REPLICATION; ALTER ROLE ${db.name} SET statement_timeout = '300ms'`) // prettier-ignore
    const owner = capturing(db, db.cache({ namespace: 'owner' }).cache, 'replication')
    await owner.capture.install()
    await db.query('BEGIN; UPDATE items SET n = 1')
    const { cache, told } = db.cache()
    const { capture, live } = capturing(db, cache, 'replication', { connection: { user: db.name } })
    const starting = capture.start()
    await sleep(1_000)
    await db.query('COMMIT')
    await starting
    await live()
    expect(told.changes.map(({ state }) => state)).not.toContain('lost')
  })

  it('values of many megabytes go past, in one transaction of thousands of rows too', async () => {
    const db = await rig.database()
    await db.query(`${table}; ALTER TABLE items ADD big text`)
    const { cache } = db.cache()
    const { capture, live } = capturing(db, cache, 'replication')
    await capture.install()
    await capture.start()
    await live()
    await db.query(`UPDATE items SET big = repeat('x', 40000000)`)
    await db.query(`INSERT INTO items SELECT i, i FROM generate_series(2, 30000) i`)
    await until(() => capture.health().changes === 30_000)
    expect(capture.health().gaps).toBe(2)
  })
})
