// What is left after the fixes of the faults in the files beside this one.

import { expect, it } from 'vitest'
import { json } from '../../src/codecs/json.ts'
import { createCache } from '../../src/index.ts'
import { manualClock, memoryStore } from '../../src/testing/index.ts'
import { race } from '../support/races.ts'
import { world } from '../support/two-processes.ts'

it('I4: callers who wait for their turn do not wait for each other’s loads, one after the other', async () => {
  const { clock, faulty } = world()
  const { cache, link } = await faulty({
    loadTimeout: '3s',
    waitTimeout: '3s',
    limit: { concurrency: 64, queue: '2s' },
  })
  const item = cache.define({ name: 'item', load: () => new Promise<string>(() => {}) })
  link.fail()
  let open = 0
  for (let n = 0; n < 12; n++) {
    await item.invalidate().catch(() => {})
    open++
    item.get().catch(() => open--)
    await clock.advance(10)
  }
  // storeTimeout + waitTimeout + queue + loadTimeout, and the load that was waited for in turn.
  await clock.advance(100 + 3_000 + 2_000 + 3_000 + 3_000)
  expect(open).toBe(0)
})

it('a call whose key is invalidated while it queues is given a value, not OVERLOADED', async () => {
  const { clock, process } = world()
  const cache = await process({ limit: { concurrency: 1, queue: '2s' } })
  const pause = (ms: number) => new Promise<void>((resolve) => void clock.after(ms, resolve))
  let busy = true
  const keepBusy = async (name: string) => {
    for (let n = 0; busy; n++)
      await cache.getOrLoad(`${name}${n}`, () => pause(400)).catch(() => {})
  }
  void keepBusy('a')
  void keepBusy('b')
  void keepBusy('c')
  await clock.advance(100)
  let outcome: unknown
  cache
    .getOrLoad('k', () => 'value')
    .then(
      (value) => (outcome = value),
      (error: { code: string }) => (outcome = error.code),
    )
  for (let ms = 0; ms < 6_000; ms += 200) {
    void cache.invalidate('k')
    await clock.advance(200)
  }
  busy = false
  expect(outcome).toBe('value')
})

it('I3: what was kept provisionally is not believed after a gap in hearing, while the store is there', async () => {
  const { clock, link, here, there } = await race({
    storeTimeout: '100ms',
    outageTtl: '1h',
    ttl: '1h',
  })
  let version = 1
  const mine = here.define({ name: 'item', load: () => version })
  const theirs = there.define({ name: 'item', load: () => version })
  link.holdReplies('publish')
  expect(await mine.get()).toBe(1)
  for (let n = 0; n < 20; n++) {
    void here.peek(`other ${n}`) // the store answers everything else
    await clock.advance(10)
  }
  link.releaseReplies('publish')
  await clock.advance('3s')
  expect(here.health()).toMatchObject({ store: 'up', bus: 'up' })
  link.loseBus()
  version = 2
  await theirs.invalidate()
  link.regainBus()
  await clock.advance('6s')
  const later = mine.get()
  await clock.advance(200)
  expect(await later).toBe(2)
})

it('a process that has not heard its first beat yet shares a load that needs no store', async () => {
  const clock = manualClock()
  const cache = createCache({ namespace: 'test', ttl: '60s', clock, store: memoryStore() })
  let loads = 0
  const item = cache.define({
    name: 'item',
    load: () => {
      loads++
      return new Promise<string>((resolve) => void clock.after(600, () => resolve('value')))
    },
    store: false,
  })
  void item.get()
  await clock.advance(20)
  void item.get()
  await clock.advance(20)
  void item.get()
  await clock.advance('5s')
  expect(loads).toBe(1)
})

it('a value that was renewed by a call with another codec is still read by its own', async () => {
  const clock = manualClock()
  const cache = createCache({ namespace: 'test', ttl: '60s', clock })
  const rules = { values: 'clone', ttl: '1s', staleIfError: '1h' } as const
  const value = { text: 'value' }
  expect(await cache.getOrLoad('k', () => value, { ...rules, codec: json() })).toEqual(value)
  await clock.advance('2s')
  const renewed = cache.getOrLoad<unknown>('k', (ctx) => ctx.notModified(), rules)
  await expect(renewed).resolves.toEqual(value)
})
