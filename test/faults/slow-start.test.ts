// A store that has just come back is asked little at first, and more with each answer.

import { expect, it } from 'vitest'
import { SlowStart } from '../../src/core/slow-start.ts'
import { createCache } from '../../src/index.ts'
import type { StorePort } from '../../src/ports.ts'
import { faultyStore, manualClock, memoryStore } from '../../src/testing/index.ts'

/** Counts reads that are under way. */
function counting(inner: StorePort) {
  const reads = { open: 0, most: 0, all: 0 }
  const store: StorePort = {
    ...inner,
    open(scope) {
      const session = inner.open(scope)
      const { read } = session
      session.read = async (key) => {
        reads.all++
        reads.most = Math.max(reads.most, ++reads.open)
        return read(key).finally(() => reads.open--)
      }
      return session
    },
  }
  return { store, reads }
}

function setUp() {
  const clock = manualClock()
  const faulty = faultyStore(memoryStore())
  const { store, reads } = counting(faulty as unknown as StorePort)
  const cache = createCache({
    namespace: 'test', ttl: '10m', memory: false, clock, store, limit: { concurrency: 10_000 },
  }) // prettier-ignore
  let loads = 0
  const items = cache.define({ name: 'item', load: () => ++loads })
  const readAll = async (count: number, ms: number): Promise<number> => {
    const before = loads
    const all = Promise.all(Array.from({ length: count }, (_, n) => items.get(n as never)))
    await clock.advance(ms)
    await all
    return loads - before
  }
  const lose = async (): Promise<void> => {
    faulty.hang()
    void items.get(0 as never)
    await clock.advance(200)
    expect(cache.health().store).toBe('down')
    faulty.heal()
    faulty.delay(5)
    await clock.advance('2s')
    expect(cache.health().store).toBe('up')
    reads.most = reads.all = 0
  }
  return { clock, cache, faulty, reads, readAll, lose }
}

it('a herd after an outage: 16 at once, then twice as many with each round, and nobody is sent to the source', async () => {
  const { clock, reads, readAll, lose, cache } = setUp()
  await clock.advance(10)
  await readAll(1_000, 100)
  await lose()
  const all = readAll(1_000, 100)
  await clock.advance(0)
  expect(await all).toBe(0)
  expect(reads.all).toBe(1_000)
  expect(reads.most).toBeLessThan(1_000)
  // Quick again: it is asked for all that there is.
  await readAll(1_000, 100)
  reads.most = 0
  await readAll(1_000, 100)
  expect(reads.most).toBe(1_000)
  await cache.close()
})

it('one that is slow since: what waits too long is loaded, and not asked for in vain', async () => {
  const { clock, reads, faulty, readAll, lose, cache } = setUp()
  await clock.advance(10)
  await readAll(1_000, 100)
  await lose()
  faulty.delay(60)
  const loads = await readAll(1_000, 200)
  // In 100 ms one round of 16 is answered, and the next one sent.
  expect(reads.all).toBeLessThan(100)
  expect(loads).toBeGreaterThan(900)
  await cache.close()
})

it('those that fail make it no wider, and it is over when nobody waits', () => {
  const start = new SlowStart()
  let gone = 0
  for (let n = 0; n < 40; n++) start.enter(() => gone++)
  expect(gone).toBe(16)
  for (let n = 0; n < 16; n++) start.ended(false)
  expect(gone).toBe(32)
  start.ended(true)
  expect(gone).toBe(34)
  for (let n = 0; n < 2_000; n++) {
    start.enter(() => {})
    start.ended(true)
  }
  expect(start.isOver).toBe(true)
})
