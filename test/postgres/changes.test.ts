// What a mapping is told of a change, by both modes, on a real PostgreSQL.

import pg from 'pg'
import { describe, expect, it } from 'vitest'
import {
  expireTags,
  invalidate,
  invalidateAll,
  invalidateTags,
  onTable,
  refresh,
  expire,
  type RowChange,
} from '../../src/postgres/index.ts'
import { slotName } from '../../src/postgres/names.ts'
import { until } from '../support/open-session.ts'
import { postgresRig } from '../support/postgres-rig.ts'

const rig = postgresRig()
type Any = Record<string, unknown>

describe.each(['notify', 'replication'] as const)('by %s', (mode) => {
  /** What the mapping of one table is told, in order; `sync` waits until all before it has come. */
  async function listening(
    sql: string,
    options: { table?: Parameters<typeof onTable>[0]; columns?: readonly string[] } = {},
  ) {
    const db = await rig.database()
    await db.query(`${sql}; CREATE TABLE sync(n int PRIMARY KEY)`)
    const { cache, told } = db.cache()
    const item = cache.define({ name: 'item', load: async (id: string) => id })
    const synced = cache.define({ name: 'sync', load: async (id: number) => id })
    const changes: RowChange<Any>[] = []
    let last = 0
    const { table = 'items', columns } = options
    const capture = db.changes(cache, {
      mode,
      tables: [
        onTable<Any>(table, {
          columns,
          affects: [item],
          change: (change) => {
            changes.push(change)
            return []
          },
        }),
        onTable<{ n: number }>('sync', {
          affects: [synced],
          change: ({ row }) => {
            last = row?.n ?? last
            return undefined
          },
        }),
      ],
    })
    await capture.install()
    await capture.start()
    let sent = 0
    const gaps = (): string[] => told.changesGap.map(({ why }) => why)
    return {
      db,
      cache,
      told,
      capture,
      changes,
      gaps,
      async sync() {
        sent++
        await db.query(`INSERT INTO sync VALUES (${sent})`)
        await until(
          () => last === sent,
          () => JSON.stringify(capture.health()),
        )
      },
    }
  }

  it('an insert, an update, a delete are told with the rows, as they are and as they were', async () => {
    const { db, changes, sync, gaps } = await listening(
      'CREATE TABLE items(id int PRIMARY KEY, category text, price numeric)',
      { columns: ['id', 'category'] },
    )
    await db.query(`INSERT INTO items VALUES (1, 'a', 5), (2, NULL, 6)`)
    await db.query(`UPDATE items SET category = 'b' WHERE id = 1`)
    await db.query(`UPDATE items SET id = 3 WHERE id = 2`)
    await db.query(`DELETE FROM items WHERE id = 1`)
    await sync()
    expect(changes).toEqual([
      { kind: 'insert', row: { id: 1, category: 'a' } },
      { kind: 'insert', row: { id: 2, category: null } },
      { kind: 'update', row: { id: 1, category: 'b' }, old: { id: 1, category: 'a' } },
      { kind: 'update', row: { id: 3, category: null }, old: { id: 2, category: null } },
      { kind: 'delete', old: { id: 1, category: 'b' } },
    ])
    expect(gaps()).toEqual(['the first start'])
  })

  it('without columns, the primary key is told, in its own order', async () => {
    const { db, changes, sync } = await listening(
      'CREATE TABLE items(a int, b text, c int, PRIMARY KEY (c, b))',
    )
    await db.query(`INSERT INTO items VALUES (1, 'x', 2)`)
    await db.query(`UPDATE items SET a = 5`)
    await sync()
    expect(changes).toEqual([
      { kind: 'insert', row: { c: 2, b: 'x' } },
      { kind: 'update', row: { c: 2, b: 'x' }, old: { c: 2, b: 'x' } },
    ])
  })

  it('a transaction that is rolled back gives nothing, nor does a part of one', async () => {
    const { db, changes, sync } = await listening('CREATE TABLE items(id int PRIMARY KEY)')
    await db.query('BEGIN; INSERT INTO items VALUES (1); ROLLBACK')
    await db.query(
      `BEGIN; INSERT INTO items VALUES (2); SAVEPOINT s; INSERT INTO items VALUES (3);
       ROLLBACK TO SAVEPOINT s; INSERT INTO items VALUES (4); COMMIT`,
    )
    await sync()
    expect(changes.map(({ row }) => row?.['id'])).toEqual([2, 4])
  })

  it('values are what pg makes of a query, whatever the writing session has set', async () => {
    const columns = {
      i: 'int', big: 'bigint', n: 'numeric', f: 'float8', b: 'boolean', t: 'text', c: 'char(5)', v: 'varchar',
      u: 'uuid', d: 'date', ts: 'timestamp', tz: 'timestamptz', iv: 'interval', j: 'jsonb', by: 'bytea',
      a: 'text[]', e: 'mood', dom: 'positive', ip: 'inet', r: 'int4range',
    } // prettier-ignore
    const { db, changes, sync } = await listening(
      `CREATE TYPE mood AS ENUM ('sad', 'glad'); CREATE DOMAIN positive AS int CHECK (value > 0);
       CREATE TABLE items(${Object.entries(columns)
         .map(([name, type]) => `${name} ${type}`)
         .join()},
       PRIMARY KEY (i))`,
      { columns: Object.keys(columns) },
    )
    await db.query(
      `SET datestyle = 'German'; SET timezone = 'Asia/Kolkata'; SET bytea_output = 'escape';
       SET intervalstyle = 'iso_8601'; SET extra_float_digits = -10;
       INSERT INTO items VALUES (1, 9007199254740993, 1.50, 0.1234567890123456, true, E'a"\\\\b\\n€😀''', 'ab', '',
        'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11', '2024-02-29', '2024-02-29 12:00:00.123', '2024-02-29 12:00:00+02',
        '1 day 02:00', '{"a": [1, null]}', '\\xdeadbeef', ARRAY['a', NULL, 'b,c"'], 'glad', 7, '10.0.0.1', '[1,5)');
       RESET ALL`,
    )
    await sync()
    const [row] = await db.query(`SELECT ${Object.keys(columns).join()} FROM items`)
    expect(changes).toEqual([{ kind: 'insert', row }])
  })

  it('names of any kind stay names', async () => {
    const schema = 'a."b'
    const table = `we"ird 'Table' $bw$ \\`
    const column = `i"d.'x\\ %s <<columns>>`
    const quoted = (name: string): string => `"${name.replaceAll('"', '""')}"`
    const at = `${quoted(schema)}.${quoted(table)}`
    const { db, changes, sync, capture, gaps } = await listening(
      `CREATE SCHEMA ${quoted(schema)}; CREATE TABLE ${at}(${quoted(column)} text PRIMARY KEY, "item" int)`,
      { table: { schema, table }, columns: [column, 'item'] },
    )
    await db.query(`INSERT INTO ${at} VALUES ('a', 1)`)
    await db.query(`UPDATE ${at} SET item = 2`)
    await db.query(`DELETE FROM ${at}`)
    await sync()
    expect(changes.map(({ kind, row, old }) => [kind, { ...(row ?? old) }])).toEqual([
      ['insert', { [column]: 'a', item: 1 }],
      ['update', { [column]: 'a', item: 2 }],
      ['delete', { [column]: 'a', item: 2 }],
    ])
    expect(gaps()).toEqual(['the first start'])
    await capture.close()
    await capture.uninstall()
    await capture.install()
    await db.query(`INSERT INTO ${at} VALUES ('b', 1)`)
  })

  it('a table without a primary key can be told by columns that are named', async () => {
    const { db, changes, sync } = await listening('CREATE TABLE items(a int, b int)', {
      columns: ['b'],
    })
    await db.query('INSERT INTO items VALUES (1, 2), (1, 3)')
    await db.query('UPDATE items SET b = 4 WHERE b = 2')
    await db.query('DELETE FROM items WHERE b = 3')
    await sync()
    expect(changes).toEqual([
      { kind: 'insert', row: { b: 2 } },
      { kind: 'insert', row: { b: 3 } },
      { kind: 'update', row: { b: 4 }, old: { b: 2 } },
      { kind: 'delete', old: { b: 3 } },
    ])
  })

  it('of a partitioned table all parts are told, new ones too, and rows that move between them', async () => {
    const { db, changes, sync, gaps } = await listening(
      `CREATE TABLE items(id int, region text, n int, PRIMARY KEY (id, region)) PARTITION BY LIST (region);
       CREATE TABLE items_a PARTITION OF items FOR VALUES IN ('a');
       CREATE TABLE items_b PARTITION OF items FOR VALUES IN ('b')`,
    )
    await db.query(`CREATE TABLE items_c PARTITION OF items FOR VALUES IN ('c')`)
    await db.query(`INSERT INTO items VALUES (1, 'a', 1)`)
    await db.query(`INSERT INTO items_b VALUES (2, 'b', 1)`)
    await db.query(`UPDATE items_b SET n = 2`)
    await db.query(`INSERT INTO items_c VALUES (3, 'c', 1)`)
    await db.query(`UPDATE items SET region = 'b' WHERE id = 1`)
    await sync()
    const told = changes.map(({ kind, row, old }) => [
      kind,
      (row ?? old)?.['id'],
      (row ?? old)?.['region'],
    ])
    expect(told.slice(0, 4)).toEqual([
      ['insert', 1, 'a'],
      ['insert', 2, 'b'],
      ['update', 2, 'b'],
      ['insert', 3, 'c'],
    ])
    expect(told.slice(4)).toEqual(
      expect.arrayContaining([
        ['delete', 1, 'a'],
        ['insert', 1, 'b'],
      ]),
    )
    expect(gaps()[0]).toEqual('the first start')
  })

  it('a value that lies apart and has not changed is known, or the definition goes as a whole', async () => {
    const { db, changes, sync, gaps } = await listening(
      `CREATE TABLE items(id int PRIMARY KEY, n int, big text); ALTER TABLE items ALTER big SET STORAGE EXTERNAL`,
      { columns: ['id', 'big'] },
    )
    const big = 'x'.repeat(mode === 'notify' ? 3_000 : 20_000)
    await db.query(`INSERT INTO items VALUES (1, 1, $1)`, [big])
    await db.query(`UPDATE items SET n = 2`)
    await sync()
    const row = { id: 1, big }
    expect(changes).toEqual([
      { kind: 'insert', row },
      { kind: 'update', row, old: row },
    ])
    // Whoever changes what old rows are told with is found out by the next heartbeat; until then:
    if (mode === 'notify') return
    await db.query('ALTER TABLE items REPLICA IDENTITY DEFAULT; UPDATE items SET n = 3')
    await until(() => gaps().includes('a change without its columns'))
  })

  it('TRUNCATE, of one table or by CASCADE, invalidates what is affected as a whole', async () => {
    const { db, cache, gaps, sync } = await listening(
      'CREATE TABLE parents(id int PRIMARY KEY); CREATE TABLE items(id int PRIMARY KEY REFERENCES parents)',
    )
    await cache.idle()
    await sync()
    await db.query('TRUNCATE items')
    await until(() => gaps().filter((why) => why === 'TRUNCATE').length === 1)
    await sync()
    await db.query('TRUNCATE parents CASCADE')
    await until(() => gaps().filter((why) => why === 'TRUNCATE').length === 2)
  })

  it('10,000 rows in one statement are told, by row or as a whole, and nothing is lost', async () => {
    const { db, changes, sync, gaps, told } = await listening(
      'CREATE TABLE items(id int PRIMARY KEY, n int)',
    )
    await db.query('INSERT INTO items SELECT i, 0 FROM generate_series(1, 10000) i')
    await db.query('UPDATE items SET n = 1 WHERE id <= 2000')
    await sync()
    if (mode === 'notify') {
      expect(changes).toHaveLength(2_000)
      expect(gaps()).toContain('a statement that changed many rows')
    } else expect(changes).toHaveLength(12_000)
    const ids = new Set(
      changes.filter(({ kind }) => kind === 'update').map(({ row }) => row?.['id']),
    )
    expect(ids.size).toBe(2_000)
    expect(told.callbackFailed).toEqual([])
  })

  it('a schema that changes under it is followed, or is a gap, and never an error of who writes', async () => {
    const { db, changes, sync, gaps } = await listening(
      'CREATE TABLE items(id int PRIMARY KEY, category text, other int)',
      { columns: ['id', 'category'] },
    )
    await db.query(`INSERT INTO items VALUES (1, 'a', 1)`)
    await db.query(`ALTER TABLE items DROP COLUMN other, ADD COLUMN more int DEFAULT 5`)
    await db.query(`UPDATE items SET category = 'b'`)
    await sync()
    await db.query(`ALTER TABLE items ALTER id TYPE bigint`)
    await db.query(`UPDATE items SET category = 'c'`)
    await sync()
    expect(changes.map(({ row }) => ({ ...row }))).toEqual([
      { id: 1, category: 'a' },
      { id: 1, category: 'b' },
      { id: '1', category: 'c' },
    ])
    const before = gaps().length
    await db.query(`ALTER TABLE items RENAME COLUMN category TO kind`)
    await db.query(`UPDATE items SET kind = 'd'`)
    await until(() => gaps().length > before)
  })

  it('a mapping that throws, or gives what cannot be done, loses nothing: it all goes', async () => {
    const db = await rig.database()
    await db.query('CREATE TABLE items(id int PRIMARY KEY)')
    const { cache, told } = db.cache()
    const item = cache.define({ name: 'item', load: async (id: number) => id })
    const other = cache.define({ name: 'other', load: async (id: number) => id })
    const capture = db.changes(cache, {
      mode,
      tables: [
        onTable<{ id: number }>('items', {
          affects: [item],
          change: ({ row }) => {
            if (row?.id === 1) throw new Error('mapping')
            if (row?.id === 2) return 'nonsense' as never
            if (row?.id === 3) return invalidate(other, 3)
            if (row?.id === 4) return invalidate(item, Number.NaN)
            return invalidate(item, row!.id)
          },
        }),
      ],
    })
    await capture.install()
    await capture.start()
    for (const id of [1, 2, 3, 4]) {
      await until(() => capture.health().pending === 0)
      await item.get(9)
      await db.query('INSERT INTO items VALUES ($1)', [id])
      await until(() => told.callbackFailed.length === id)
      await until(() => capture.health().pending === 0)
      expect(await item.peek(9)).toEqual({ state: 'missing' })
    }
    expect(told.callbackFailed.map(({ error }) => (error as Error).message)).toEqual([
      'mapping',
      expect.stringContaining('got "nonsense"'),
      expect.stringContaining("'other'"),
      expect.any(String),
    ])
    expect(told.changesGap.slice(1).map(({ definitions }) => definitions)).toEqual(
      Array.from({ length: 4 }, () => ['item']),
    )
    expect(cache.health().status).toBe('ok')
  })

  it('T063 a product that moves to another category changes both, by tag and by key', async () => {
    const db = await rig.database()
    await db.query(
      `CREATE TABLE products(id int PRIMARY KEY, category text, name text);
       INSERT INTO products VALUES (1, 'a', 'one'), (2, 'b', 'two'), (3, 'c', 'three')`,
    )
    const { cache } = db.cache()
    const list = cache.define({
      name: 'list',
      load: async (category: string) =>
        (await db.query('SELECT id FROM products WHERE category = $1 ORDER BY id', [category])).map(
          ({ id }) => id,
        ),
      tags: (_, category) => [`category:${category}`],
    })
    const product = cache.define({
      name: 'product',
      load: async (id: number) => (await db.query('SELECT * FROM products WHERE id = $1', [id]))[0],
    })
    const capture = db.changes(cache, {
      mode,
      tables: [
        onTable<{ id: number; category: string }>('products', {
          columns: ['id', 'category'],
          affects: [product, list],
          change: ({ row, old }) => [
            ...[row, old].flatMap((one) =>
              one ? [invalidateTags(`category:${one.category}`)] : [],
            ),
            invalidate(product, (row ?? old).id),
          ],
        }),
      ],
    })
    await capture.install()
    await capture.start()
    await until(() => capture.health().pending === 0)
    expect(await Promise.all(['a', 'b', 'c'].map((one) => list.get(one)))).toEqual([[1], [2], [3]])
    await product.get(1)
    await db.query(`UPDATE products SET category = 'b' WHERE id = 1`)
    await until(() => capture.health().changes === 1)
    expect((await list.peek('c')).state).toBe('fresh')
    expect(await Promise.all(['a', 'b', 'c'].map((one) => list.get(one)))).toEqual([
      [],
      [1, 2],
      [3],
    ])
    expect(await product.get(1)).toMatchObject({ category: 'b' })
  })

  it('expire keeps stale answers, refresh loads anew at once, invalidateAll takes all', async () => {
    const db = await rig.database()
    await db.query('CREATE TABLE items(id int PRIMARY KEY)')
    const { cache } = db.cache({ staleWhileRevalidate: '1m' })
    const loads: string[] = []
    const load = (name: string) => async (id: number) => {
      loads.push(`${name}${id}`)
      return `${name}${id}`
    }
    const a = cache.define({ name: 'a', load: load('a') })
    const b = cache.define({ name: 'b', load: load('b') })
    const c = cache.define({ name: 'c', load: load('c') })
    const settings = cache.define({ name: 'settings', load: async () => 'all' })
    const d = cache.define({ name: 'd', load: load('d'), tags: ['d'] })
    const capture = db.changes(cache, {
      mode,
      tables: [
        onTable<{ id: number }>('items', {
          affects: [a, b, c, d, settings],
          change: ({ row }) => [
            expire(a, row!.id),
            refresh(b, row!.id),
            invalidateAll(c),
            expireTags('d'),
            invalidate(settings),
          ],
        }),
      ],
    })
    await capture.install()
    await capture.start()
    await until(() => capture.health().pending === 0)
    await Promise.all([a.get(1), b.get(1), c.get(2), d.get(1), settings.get()])
    loads.length = 0
    await db.query('INSERT INTO items VALUES (1)')
    await until(() => loads.includes('b1'))
    await cache.idle()
    expect((await a.peek(1)).state).toBe('stale')
    expect((await b.peek(1)).state).toBe('fresh')
    expect((await c.peek(2)).state).toBe('missing')
    expect((await d.peek(1)).state).toBe('stale')
    expect((await settings.peek()).state).toBe('missing')
    expect(loads).toEqual(['b1'])
  })

  it('what was installed may be installed again, and the writes go on when it is not there any more', async () => {
    const { db, capture, changes, sync } = await listening('CREATE TABLE items(id int PRIMARY KEY)')
    await capture.install()
    await db.query('INSERT INTO items VALUES (1)')
    await sync()
    expect(changes).toHaveLength(1)
    await capture.close()
    await capture.uninstall()
    await db.query('INSERT INTO items VALUES (2)')
    const slots = await db.query('SELECT FROM pg_replication_slots WHERE slot_name = $1', [
      slotName(db.name, db.name),
    ])
    expect(slots).toEqual([])
    const triggers = await db.query(`SELECT FROM pg_trigger WHERE tgname LIKE 'breakwater%'`)
    expect(triggers).toEqual([])
  })
})

it('by notify, a row that does not fit into a notification is told as a gap, and the write is done', async () => {
  const db = await rig.database()
  await db.query('CREATE TABLE items(id int PRIMARY KEY, big text)')
  const { cache, told } = db.cache()
  const item = cache.define({ name: 'item', load: async (id: number) => id })
  const lengths: number[] = []
  const capture = db.changes(cache, {
    mode: 'notify',
    tables: [
      onTable<{ id: number; big: string }>('items', {
        columns: ['id', 'big'],
        affects: [item],
        change: ({ row }) => void lengths.push(row?.big.length ?? 0),
      }),
    ],
  })
  await capture.install()
  await capture.start()
  const all = Array.from({ length: 60 }, (_, at) => 7_600 + at * 10)
  for (const length of all) {
    await db.query('INSERT INTO items VALUES ($1, $2)', [length, 'x'.repeat(length)])
  }
  await until(() => lengths.length + told.changesGap.length - 1 === all.length)
  expect(lengths.length).toBeGreaterThan(0)
  await db.query('INSERT INTO items SELECT i, repeat(chr(8364), 500) FROM generate_series(1, 50) i')
  await until(() => lengths.length + told.changesGap.length - 1 === all.length + 50)
})

it('by notify, triggers fire where a session replicates, too', async () => {
  const db = await rig.database()
  await db.query('CREATE TABLE items(id int PRIMARY KEY)')
  const { cache } = db.cache()
  const item = cache.define({ name: 'item', load: async (id: number) => id })
  const table = onTable<{ id: number }>('items', {
    affects: [item],
    change: ({ row }) => invalidate(item, row!.id),
  })
  const capture = db.changes(cache, { mode: 'notify', tables: [table] })
  await capture.install()
  await capture.start()
  await db.query('SET session_replication_role = replica; INSERT INTO items VALUES (1); RESET ALL')
  await until(() => capture.health().changes === 1)
})

it('a parser that is set in pg is used for captured rows, as for queries', async () => {
  const before = pg.types.getTypeParser(20, 'text') as never
  pg.types.setTypeParser(20, BigInt)
  try {
    const db = await rig.database()
    await db.query('CREATE TABLE items(id bigint PRIMARY KEY)')
    const { cache } = db.cache()
    const item = cache.define({ name: 'item', load: async (id: bigint) => id })
    const ids: bigint[] = []
    const table = onTable<{ id: bigint }>('items', {
      affects: [item],
      change: ({ row }) => void ids.push(row!.id),
    })
    const capture = db.changes(cache, { mode: 'notify', tables: [table] })
    await capture.install()
    await capture.start()
    await db.query('INSERT INTO items VALUES (9007199254740993)')
    await until(() => ids.length === 1)
    expect(ids).toEqual([9007199254740993n])
  } finally {
    pg.types.setTypeParser(20, before)
  }
})
