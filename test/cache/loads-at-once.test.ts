// "Per key and process at most one detached and one current load run; a caller who would need a
// third waits for the oldest to end."

import { expect, it } from 'vitest'
import { createCache } from '../../src/index.ts'
import { manualClock } from '../../src/testing/index.ts'
import { world } from '../support/two-processes.ts'

function counted() {
  const ends: (() => void)[] = []
  const seen = { now: 0, most: 0, ends }
  const load = () => {
    seen.now++
    seen.most = Math.max(seen.most, seen.now)
    return new Promise<string>((resolve) => {
      ends.push(() => {
        seen.now--
        resolve('value')
      })
    })
  }
  return { seen, load }
}

it('a read and a refresh that begin together after an invalidation are not a second and a third', async () => {
  const clock = manualClock()
  const cache = createCache({ namespace: 'test', ttl: '60s', clock })
  const { seen, load } = counted()
  const item = cache.define({ name: 'item', load })
  void item.get()
  await clock.advance(10)
  await item.invalidate()
  void item.get()
  void item.refresh()
  await clock.advance(10)
  expect(seen.most).toBe(2)
})

it('the loads that wait for a turn in an outage do not all begin when one ends', async () => {
  const { clock, faulty } = world()
  const { cache, link } = await faulty()
  const { seen, load } = counted()
  const item = cache.define({ name: 'item', load })
  link.fail()
  const change = async () => {
    await item.invalidate().catch(() => {})
    void item.get()
    await clock.advance(10)
  }
  for (let n = 0; n < 8; n++) await change()
  expect(seen.most).toBe(2)
  seen.ends.shift()!()
  await clock.advance(10)
  expect(seen.most).toBe(2)
})
