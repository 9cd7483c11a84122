// What a process tells who asks over the bus: as much as it says, no more often than it may, and
// nothing to those who ask for harm.

import { expect, it } from 'vitest'
import type { Told } from '../../src/cache/told.ts'
import { createCache } from '../../src/index.ts'
import type { BusMessage } from '../../src/ports.ts'
import { manualClock, memoryStore } from '../../src/testing/index.ts'
import { openSession } from '../support/open-session.ts'

function rig() {
  const clock = manualClock()
  const store = memoryStore()
  const cache = createCache({ namespace: 'shop', ttl: '60s', clock, store })
  const asker = openSession(store, { namespace: 'shop', clock })
  const told = (): Told[] =>
    asker.messages.flatMap((message: BusMessage) =>
      message.type === 'present' ? [JSON.parse(message.text) as Told] : [],
    )
  return { clock, store, cache, ...asker, told }
}

it('a process tells its counters by definition, its loads and who waits', async () => {
  const { clock, cache, session, told } = rig()
  const item = cache.define({ name: 'item', load: async (id: number) => id })
  await item.get(1)
  await item.get(1)
  const slow = cache.define({ name: 'slow', load: () => new Promise<number>(() => {}) })
  const waiting = [slow.get(), slow.get(), slow.get()].map((one) => one.catch(() => {}))
  await clock.advance('1s')

  await session.rollCall!()
  await clock.advance('1s')
  expect(told()).toHaveLength(1)
  const [one] = told()
  expect(one).toMatchObject({
    pid: process.pid,
    uptimeMs: expect.any(Number),
    status: 'ok',
    store: 'up',
    bus: 'up',
    loads: { running: 1, queued: 0, limit: 64, abandoned: 0 },
    left: 0,
  })
  expect(one!.definitions).toMatchObject({
    item: { hitMemory: 1, loaded: 1, loads: 1 },
    slow: { waiting: 3, loading: 1 },
  })
  // What is 0 is not told.
  expect(one!.definitions['item']).not.toHaveProperty('stale')
  void cache.close({ timeout: 0 })
  await clock.advance('1m')
  await Promise.all(waiting)
})

it('a process tells once per half second, however often it is asked', async () => {
  const { clock, session, told } = rig()
  await clock.advance('1s')
  for (let n = 0; n < 200; n++) {
    await session.rollCall!()
    await clock.advance(10)
  }
  expect(told().length).toBeGreaterThanOrEqual(4)
  expect(told().length).toBeLessThanOrEqual(5)
})

it('two who ask at once are both told, and of many at once only some', async () => {
  const { clock, store } = rig()
  const askers = Array.from({ length: 20 }, () => openSession(store, { namespace: 'shop', clock }))
  await clock.advance('1s')
  for (const { session } of askers) await session.rollCall!()
  await clock.advance('10s')
  const answered = askers.filter(({ messages }) => messages.some(({ type }) => type === 'present'))
  expect(answered).toHaveLength(4)
})

it('what is told has a bound, whatever the number of definitions and the length of their names', async () => {
  const { clock, cache, session, told } = rig()
  for (let n = 0; n < 500; n++) {
    cache.define({ name: `${'x'.repeat(120)}${n}`, load: async () => 1 })
  }
  const hot = cache.define({ name: 'hot', load: async () => 1 })
  await hot.get()
  await clock.advance('1s')
  await session.rollCall!()
  await clock.advance('1s')
  const [one] = told()
  expect(Object.keys(one!.definitions).length).toBeLessThanOrEqual(100)
  expect(one!.definitions).toHaveProperty('hot')
  expect(one!.left).toBe(402)
  expect(JSON.stringify(one).length).toBeLessThan(64_000)
})

it('a closed cache tells nothing', async () => {
  const { clock, cache, session, told } = rig()
  await clock.advance('1s')
  await session.rollCall!()
  const closed = cache.close()
  await clock.advance('10s')
  await closed
  await session.rollCall!()
  await clock.advance('10s')
  expect(told()).toEqual([])
})
