// Everybody at once, for keys that nobody has, of a source that takes 20 loads, without Redis. In
// virtual time; by the process's own clock it is `npm run bench -- overload`.

import { expect, it } from 'vitest'
import { createCache } from '../../src/index.ts'
import { faultyStore, manualClock, memoryStore } from '../../src/testing/index.ts'

it('5,000 keys, the store gone: never over 20 loads, 3,600 loaded, all others OVERLOADED in time', async () => {
  const clock = manualClock()
  const link = faultyStore(memoryStore())
  const cache = createCache({
    namespace: 'overload',
    ttl: '10m',
    store: link,
    clock,
    limit: { concurrency: 20, queue: '10s' },
  })
  await clock.advance(10)
  link.fail()
  await cache.getOrLoad('probe', () => 0)
  expect(cache.health().store).toBe('down')

  let running = 0
  let most = 0
  const item = cache.define({
    name: 'item',
    load: (n: number) => {
      most = Math.max(most, ++running)
      return new Promise<number>((resolve) => {
        clock.after(50, () => {
          running -= 1
          resolve(n)
        })
      })
    },
  })
  const began = clock.now()
  const told = { loaded: 0, overloaded: 0, late: 0, others: [] as unknown[] }
  const ask = async (n: number): Promise<void> => {
    try {
      if ((await item.get(n)) === n) told.loaded += 1
      else told.others.push(n)
    } catch (error) {
      if ((error as { code?: string }).code !== 'OVERLOADED') told.others.push(error)
      else told.overloaded += 1
      if (clock.now() - began > 10_000) told.late += 1
    }
  }
  const all = Promise.all(Array.from({ length: 5_000 }, (_, n) => ask(n)))
  for (let ms = 0; ms < 10_100; ms += 50) await clock.advance(50)
  await all
  expect(most).toBe(20)
  expect(told).toMatchObject({ late: 0, others: [] })
  expect(told.loaded).toBeGreaterThanOrEqual(3_600)
  expect(told.loaded + told.overloaded).toBe(5_000)
})
