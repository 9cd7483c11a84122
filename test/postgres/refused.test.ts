// What is wrong is said at the earliest moment, with what helps: options at once, the database at start.

import { describe, expect, it } from 'vitest'
import { createCache } from '../../src/index.ts'
import {
  invalidate,
  onTable,
  postgresChanges,
  publicationSql,
  triggerSql,
} from '../../src/postgres/index.ts'
import { sleep, until } from '../support/open-session.ts'
import { postgresRig, type TestDatabase } from '../support/postgres-rig.ts'

const rig = postgresRig()

describe('options', () => {
  const cache = createCache({ namespace: 'options', ttl: '1s' })
  const item = cache.define({ name: 'item', load: async (id: number) => id })
  const table = onTable<{ id: number }>('items', {
    affects: [item],
    change: ({ row }) => invalidate(item, row?.id ?? 0),
  })
  const whole = { cache, connection: 'postgres://x', mode: 'notify', name: 'a', tables: [table] }
  it.each([
    [{ cache: {} }, 'postgresChanges.cache: expected what createCache has made, got an object'],
    [
      { connection: '' },
      'postgresChanges.connection: expected an address or a configuration for pg',
    ],
    [{ connection: 5 }, 'got 5'],
    [
      { mode: 'polling' },
      "postgresChanges.mode: expected 'notify' or 'replication', got \"polling\"",
    ],
    [{ mode: 'replication' }, "expected 'notify' for a cache without a store"],
    [{ name: 'Shop' }, 'postgresChanges.name: expected 1 to 32 characters'],
    [{ name: 'a'.repeat(33) }, 'postgresChanges.name'],
    [{ name: 'a"b' }, 'postgresChanges.name'],
    [{ tables: [] }, 'postgresChanges.tables: expected a list of what onTable() has made'],
    [{ tables: [{ name: 'items' }] }, 'postgresChanges.tables'],
    [{ tables: [table, table] }, 'postgresChanges.tables: expected each table once'],
    [{ heartbeat: 0 }, 'postgresChanges.heartbeat: expected a duration greater than 0, got 0'],
    [{ settle: -1 }, 'postgresChanges.settle'],
    [{ maxPending: 0 }, 'postgresChanges.maxPending: expected a whole number of at least 1, got 0'],
    [{ lag: { warn: '5MB' } }, 'postgresChanges.lag.warn'],
    [{ lag: { drop: true } }, 'postgresChanges.lag.drop'],
    [{ lag: { max: 5 } }, 'postgresChanges.lag.max: unknown option'],
    [
      { heartbeats: '1s' },
      'postgresChanges.heartbeats: unknown option, did you mean postgresChanges.heartbeat?',
    ],
  ])('%j is refused', (wrong, text) => {
    const make = () => postgresChanges({ ...whole, ...wrong } as never)
    expect(make).toThrow(expect.objectContaining({ code: 'INVALID_OPTION' }))
    expect(make).toThrow(text)
  })

  const usual = { affects: [item], change: () => [] }
  it.each([
    ['a.b.c', {}, "onTable.table: expected 'schema.table', or { schema, table }"],
    ['"A"', {}, 'onTable.table'],
    ['', {}, 'onTable.table: expected a name of 1 to 63 bytes'],
    [{ schema: 'a' }, {}, 'onTable.table.table'],
    [{ schema: 'a', table: 'é'.repeat(32) }, {}, 'expected a name of 1 to 63 bytes'],
    ['a', { affects: [] }, 'onTable.affects: expected a list of at least one definition'],
    ['a', { affects: ['item'] }, 'onTable.affects'],
    ['a', { columns: 'id' }, 'onTable.columns: expected a list of names, got "id"'],
    ['a', { columns: ['id', 'id'] }, 'onTable.columns: expected each name once'],
    ['a', { change: 'x' }, 'onTable.change: expected a function, got "x"'],
    ['a', { collumns: [] }, 'onTable.collumns: unknown option, did you mean onTable.columns?'],
  ])('onTable(%j, %j) is refused', (name, wrong, text) => {
    expect(() => onTable(name as never, { ...usual, ...wrong } as never)).toThrow(text)
  })

  it('the SQL can be printed without a cache or a database, and is the same each time', () => {
    const tables = [onTable('a', { ...usual, columns: ['id'] as never })]
    for (const sql of [triggerSql, publicationSql]) {
      expect(sql('shop', tables)).toBe(sql('shop', tables))
      expect(sql('shop', tables)).toContain('"public"."a"')
      expect(() => sql('Shop', tables)).toThrow('name: expected 1 to 32 characters')
    }
  })

  it('a cache without a store captures by notify in each process, and none waits', async () => {
    const db = await rig.database()
    await db.query('CREATE TABLE items(id int PRIMARY KEY)')
    const captures = [1, 2].map(() => {
      const own = createCache({ namespace: 'own', ttl: '1m' })
      const value = own.define({ name: 'item', load: async (id: number) => id })
      const changes = db.changes(own, {
        mode: 'notify',
        tables: [
          onTable<{ id: number }>('items', {
            affects: [value],
            change: ({ row }) => invalidate(value, row!.id),
          }),
        ],
      })
      return { own, value, changes }
    })
    await captures[0]!.changes.install()
    for (const { changes } of captures) await changes.start()
    for (const { value } of captures) await value.get(1)
    await db.query('INSERT INTO items VALUES (1)')
    for (const { value, changes, own } of captures) {
      await until(() => changes.health().changes === 1)
      expect((await value.peek(1)).state).toBe('missing')
      await own.close()
    }
  })
})

describe.each(['notify', 'replication'] as const)('by %s, the database', (mode) => {
  function capture(db: TestDatabase, columns?: readonly string[], connection: object = {}) {
    const { cache, told } = db.cache()
    const item = cache.define({ name: 'item', load: async (id: number) => id })
    const table = onTable<Record<string, unknown>>('items', {
      columns,
      affects: [item],
      change: ({ row }) => invalidate(item, Number(row?.['id'])),
    })
    const changes = db.changes(cache, {
      mode,
      tables: [table],
      connection: { ...db.connection, ...connection },
    })
    return { cache, changes, told }
  }
  const refusal = (text: string) =>
    expect.objectContaining({ code: 'INVALID_OPTION', message: expect.stringContaining(text) })

  it.each([
    ['no table', 'SELECT', 'there is no table "public"."items"'],
    ['a view', 'CREATE VIEW items AS SELECT 1 AS id', 'there is no table "public"."items"'],
    [
      'no such column',
      'CREATE TABLE items(n int PRIMARY KEY)',
      '"public"."items" has no column id',
    ],
  ])('%s', async (_, sql, text) => {
    const db = await rig.database()
    await db.query(sql)
    if (mode === 'replication') await db.query(`CREATE PUBLICATION breakwater_${db.name} WITH (publish_via_partition_root = true)`) // prettier-ignore
    const { changes, cache } = capture(db, ['id'])
    await expect(changes.start()).rejects.toEqual(refusal(text))
    expect(changes.health()).toMatchObject({ state: 'refused', why: expect.stringContaining(text) })
    expect(cache.health().status).toBe('degraded')
  })

  it('nothing installed; and it comes up by itself when that is cured', async () => {
    const db = await rig.database()
    await db.query('CREATE TABLE items(id int PRIMARY KEY)')
    const { changes } = capture(db)
    await expect(changes.start()).rejects.toEqual(refusal('Run: what changes.install() runs'))
    await changes.install()
    await until(() => changes.health().state === 'live')
    expect(changes.health().gaps).toBe(1)
  })

  it('what was uninstalled under it is refused, and a gap when it is back', async () => {
    const db = await rig.database()
    await db.query('CREATE TABLE items(id int PRIMARY KEY)')
    const { changes } = capture(db)
    await changes.install()
    await changes.start()
    await until(() => changes.health().state === 'live')
    await db.query(
      mode === 'notify'
        ? `DROP TRIGGER breakwater_${db.name}_update ON items`
        : `ALTER PUBLICATION breakwater_${db.name} DROP TABLE items`,
    )
    await until(() => changes.health().state === 'refused')
    await changes.install()
    await until(() => changes.health().state === 'live')
    expect(changes.health().gaps).toBe(2)
  })

  it('a role without rights is told which; one that has just enough works', async () => {
    const db = await rig.database()
    await db.query(
      `CREATE TABLE items(id int PRIMARY KEY); CREATE ROLE ${db.name} LOGIN;
       REVOKE ALL ON items FROM ${db.name}`,
    )
    const owner = capture(db)
    await owner.changes.install()
    const { changes } = capture(db, undefined, { user: db.name })
    if (mode === 'replication') {
      await expect(changes.start()).rejects.toEqual(refusal('ALTER ROLE … REPLICATION'))
      await db.query(`ALTER ROLE ${db.name} REPLICATION`)
    } else await changes.start()
    await until(() => changes.health().state === 'live')
    await db.query('INSERT INTO items VALUES (1)')
    await until(() => changes.health().changes === 1)
    await changes.close()
    // What is there already needs no right.
    if (mode === 'replication') await changes.install()
    else await expect(changes.install()).rejects.toThrow(/must be owner|permission denied/)
  })

  it('a table without a primary key and without named columns is refused', async () => {
    const db = await rig.database()
    await db.query('CREATE TABLE items(id int)')
    const { changes } = capture(db)
    await expect(changes.install().then(async () => changes.start())).rejects.toThrow(
      /no primary key|not told/,
    )
  })

  it('a database that is not there is a state, no error: the cache works without', async () => {
    const db = await rig.database()
    await db.query('CREATE TABLE items(id int PRIMARY KEY)')
    const { changes, cache } = capture(db, undefined, { port: 1 })
    await changes.start()
    expect(changes.health()).toMatchObject({ state: 'lost', why: expect.stringContaining('ECONNREFUSED') }) // prettier-ignore
    expect(await cache.getOrLoad('a', async () => 5)).toBe(5)
    await changes.close()
  })

  it('who does not wait for start is not ended by its refusal', async () => {
    const db = await rig.database()
    const { changes } = capture(db)
    const unhandled: unknown[] = []
    const listener = (error: unknown): void => void unhandled.push(error)
    process.on('unhandledRejection', listener)
    void changes.start()
    await until(() => changes.health().state === 'refused')
    await sleep(50)
    process.off('unhandledRejection', listener)
    expect(unhandled).toEqual([])
  })
})

describe('by replication, the server', () => {
  const minimal = postgresRig({ settings: { wal_level: 'replica' } })
  it('without logical decoding it says so', async () => {
    const db = await minimal.database()
    await db.query('CREATE TABLE items(id int PRIMARY KEY)')
    const { cache } = db.cache()
    const item = cache.define({ name: 'item', load: async (id: number) => id })
    const table = onTable<{ id: number }>('items', { affects: [item], change: () => [] })
    const changes = db.changes(cache, { mode: 'replication', tables: [table] })
    await expect(changes.start()).rejects.toThrow(
      'postgresChanges.mode: expected wal_level logical, got replica. Run: ALTER SYSTEM SET wal_level = logical',
    )
  })

  it('where old rows are told without what is asked for, it says which table and what to run', async () => {
    const db = await rig.database()
    await db.query('CREATE TABLE items(id int PRIMARY KEY, n int)')
    const { cache } = db.cache()
    const item = cache.define({ name: 'item', load: async (id: number) => id })
    const table = onTable<{ id: number; n: number }>('items', {
      columns: ['id', 'n'],
      affects: [item],
      change: () => [],
    })
    const changes = db.changes(cache, { mode: 'replication', tables: [table] })
    await changes.install()
    await db.query('ALTER TABLE items REPLICA IDENTITY DEFAULT')
    await expect(changes.start()).rejects.toThrow(
      'old rows of items are not told with id, n. Run: ALTER TABLE items REPLICA IDENTITY FULL',
    )
  })
})
