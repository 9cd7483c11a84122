// The promise: 10,000 row updates in single and in batch, with deletes and inserts, while readers in
// several processes never stop; in the middle the process that captures is killed, once more while
// Redis is frozen and has not taken what it knew, and Redis is restarted. When all is quiet, every value that any process holds, in memory or in Redis, is its row.

import { afterEach, describe, expect, it } from 'vitest'
import type { Health } from '../../src/index.ts'
import { ChangesProcess, type ChangesPlan, type Found } from '../support/changes-process.ts'
import { sleep, until } from '../support/open-session.ts'
import { installProducts, postgresRig, type TestDatabase } from '../support/postgres-rig.ts'

const rig = postgresRig()
const ids = Array.from({ length: 400 }, (_, at) => at + 1)
/** Changed once: while nobody captures, and while Redis takes nothing. Nothing heals them later. */
const whenNobodyCaptures = [501, 502, 503, 504]
const whenRedisIsFrozen = [601, 602, 603, 604]
const marker = 1_000_000

describe.each(['notify', 'replication'] as const)('capture by %s', (mode) => {
  const members: ChangesProcess[] = []
  afterEach(async () => {
    await Promise.all(members.splice(0).map((member) => member.stop()))
  })

  it('T061 after 10,000 row updates, a crash of who captures and a restart of Redis, every cached value is its row', async () => {
    const db = await rig.database()
    await db.query(
      `CREATE TABLE products(id int PRIMARY KEY, category text NOT NULL, version int NOT NULL);
       INSERT INTO products SELECT i, 'c' || i % 7, 0 FROM generate_series(1, ${ids.length}) i;
       INSERT INTO products SELECT i, 'once', 0 FROM unnest('{${[marker, ...whenNobodyCaptures, ...whenRedisIsFrozen].join()}}'::int[]) i`,
    )
    await installProducts(db, mode)
    const plan: ChangesPlan = {
      redis: rig.redis.url,
      connection: db.connection,
      mode,
      name: db.name,
      ids: [...ids, ...whenNobodyCaptures, ...whenRedisIsFrozen, marker],
      readers: 8,
      heartbeat: '300ms',
    }
    const start = async (): Promise<void> => {
      members.push(await ChangesProcess.start(plan))
    }
    await Promise.all([start(), start(), start()])

    const changeOnce = (which: readonly number[]): Promise<unknown> =>
      db.query('UPDATE products SET version = 1 WHERE id = ANY ($1)', [which])
    /** All that is asked for later is cached now, in every process. */
    const cacheAll = (): Promise<unknown> =>
      Promise.all(alive().map((member) => member.call('answers')))
    const alive = (): ChangesProcess[] => members.filter(({ state }) => state !== 'dead')
    const killCapturing = async (): Promise<void> => {
      await until(() => members.some(({ state }) => state === 'live'))
      const captures = members.find(({ state }) => state === 'live')!
      captures.signal('SIGKILL')
      await until(() => captures.state === 'dead')
    }

    let updated = await update(db, 3_000)
    const restarting = rig.redis.restart()
    updated += await update(db, 1_500)
    await restarting
    await settled(alive())
    await cacheAll()

    await killCapturing()
    await changeOnce(whenNobodyCaptures)
    updated += await update(db, 1_500)
    await start()
    await settled(alive())
    await cacheAll()

    rig.redis.freeze()
    updated += await update(db, 500)
    await sleep(200)
    // What was sent before that is known to be in vain would be taken after all.
    await all(alive(), ({ store }) => store === 'down')
    const waiting = await pending(alive())
    await changeOnce(whenRedisIsFrozen)
    // It knows of them, and dies before anybody else does.
    while ((await pending(alive())) < waiting + whenRedisIsFrozen.length) await sleep(10)
    await killCapturing()
    rig.redis.thaw()
    await start()
    updated += await update(db, 10_000 - updated)
    expect(updated).toBe(10_000)

    expect(alive()).toHaveLength(3)
    await quiet(db, alive())
    const rows = await db.query('SELECT id, category, version FROM products')
    const byId = new Map(rows.map(({ id, ...row }) => [id, row]))
    const expected = plan.ids.map((id) => byId.get(id) ?? null)
    const sums = await db.query(
      `SELECT category, count(*)::int AS n, sum(version)::int AS sum FROM products GROUP BY category`,
    )
    const byCategory = new Map(sums.map(({ category, n, sum }) => [category, { n, sum }]))
    let held = 0
    for (const member of alive()) {
      const values = await member.call<unknown[]>('held')
      held += values.filter((value) => value !== 'missing').length
      expect(values.map((value, at) => (value === 'missing' ? expected[at] : value))).toEqual(
        expected,
      )
      const categories = await member.call<unknown[]>('heldCategories')
      for (const [at, value] of categories.entries()) {
        if (value !== 'missing') expect(value).toEqual(byCategory.get(`c${at}`) ?? { n: 0, sum: 0 })
      }
    }
    expect(held).toBeGreaterThan(0)
    for (const member of alive()) {
      expect(await member.call('answers')).toEqual(expected)
      const { errors, reads } = await member.call<Found>('found')
      expect(errors).toEqual([])
      // One that was started again late, on a busy machine, has read the less.
      expect(reads).toBeGreaterThan(10)
    }
  }, 120_000)
})

/** So many rows, in all the ways that rows are changed. Some are deleted and come back. */
async function update(db: TestDatabase, count: number): Promise<number> {
  const random = (most: number): number => Math.floor(Math.random() * most)
  let done = 0
  while (done < count) {
    const batch = [1, 1, 1, 1, 50, 200][random(6)]!
    const size = Math.min(batch, count - done)
    const some = new Set<number>()
    while (some.size < size) some.add(ids[random(ids.length)]!)
    const list = [...some]
    const rows = await db.query(
      `WITH back AS (INSERT INTO products SELECT i, 'c' || i % 7, 0 FROM unnest($1::int[]) i
         ON CONFLICT DO NOTHING RETURNING id)
       SELECT count(*) FROM back`,
      [list],
    )
    expect(rows).toHaveLength(1)
    const [{ n }] = (await db.query(
      `WITH changed AS (UPDATE products SET version = version + 1,
         category = CASE WHEN random() < 0.3 THEN 'c' || floor(random() * 7)::int ELSE category END
         WHERE id = ANY ($1::int[]) RETURNING id)
       SELECT count(*)::int AS n FROM changed`,
      [list],
    )) as [{ n: number }]
    done += n
    if (random(10) === 0) await db.query('DELETE FROM products WHERE id = $1', [list[0]])
    if (random(20) === 0) {
      await db.query(`BEGIN; UPDATE products SET version = -1, category = 'never'; ROLLBACK`)
    }
  }
  return done
}

async function all(
  members: readonly ChangesProcess[],
  are: (health: Health) => boolean,
): Promise<readonly Health[]> {
  for (let turn = 0; turn < 600; turn++) {
    const healths = await Promise.all(members.map((member) => member.health()))
    if (healths.every(are)) return healths
    await sleep(50)
  }
  throw new Error('expected all processes to be as they should')
}

async function pending(members: readonly ChangesProcess[]): Promise<number> {
  const healths = await Promise.all(members.map((member) => member.health()))
  return Math.max(...healths.map(({ changes: [one] }) => one?.pending ?? 0))
}

/** Everybody is well, and somebody captures and has nothing left to do. */
async function settled(members: readonly ChangesProcess[]): Promise<void> {
  for (;;) {
    const healths = await all(members, ({ status }) => status === 'ok')
    const captures = healths.filter(
      ({ changes: [one] }) => one?.state === 'live' && one.pending === 0,
    )
    if (captures.length === 1) return
    await sleep(50)
  }
}

/** Changes are taken in order: when the last one has reached everybody, all others have. */
async function quiet(db: TestDatabase, members: readonly ChangesProcess[]): Promise<void> {
  await Promise.all(members.map((member) => member.call('stopReading')))
  await db.query('UPDATE products SET version = 1 WHERE id = $1', [marker])
  const end = performance.now() + 60_000
  for (;;) {
    const healths = await Promise.all(members.map((member) => member.health()))
    const seen = await Promise.all(
      members.map((member) =>
        member.call<{ state: string; value?: { version: number } }>('peek', { of: marker }),
      ),
    )
    const isSeen = seen.every(({ state, value }) => state === 'missing' || value?.version === 1)
    const captures = healths.filter(
      ({ changes: [one] }) => one?.state === 'live' && one.pending === 0,
    )
    const areWell = healths.every(({ status }) => status === 'ok')
    if (isSeen && areWell && captures.length === 1) return
    if (performance.now() > end) throw new Error(JSON.stringify({ healths, seen }, undefined, 1))
    await sleep(50)
  }
}
