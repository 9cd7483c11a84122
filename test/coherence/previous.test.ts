// "`previous`: present after expiry and `expire`, absent after any invalidation."

import { expect, it } from 'vitest'
import { createCache, type LoadContext } from '../../src/index.ts'
import { manualClock, memoryStore } from '../../src/testing/index.ts'

async function staleEntry(load: (ctx: LoadContext) => unknown) {
  const clock = manualClock()
  const options = { ttl: '1s', staleWhileRevalidate: '1h' } as const
  const cache = createCache({ namespace: 'test', clock, ...options })
  const item = cache.define({ name: 'item', load: (_: void, ctx: LoadContext) => load(ctx) })
  await item.get()
  await clock.advance('2s')
  return { clock, item }
}

it('a background refresh that begins in the same turn as an invalidation has no previous value', async () => {
  const previous: unknown[] = []
  const { clock, item } = await staleEntry((ctx) => previous.push(ctx.previous?.value))
  void item.get() // stale: a refresh begins
  await item.invalidate()
  await item.get()
  await clock.advance(10)
  expect(previous.filter((value) => value !== undefined)).toEqual([])
})

it('I3: and cannot renew by notModified what was invalidated', async () => {
  let version = 1
  const { clock, item } = await staleEntry((ctx) =>
    ctx.previous === undefined ? version : ctx.notModified(),
  )
  void item.get() // stale: a refresh begins
  version = 2
  await item.invalidate()
  await clock.advance(10)
  expect(await item.get()).toBe(2)
})

it('I2: nor publish it again to everyone, when its refresh has not begun yet', async () => {
  const calm = manualClock()
  const clock = { ...calm, random: () => 0.99 }
  const store = memoryStore()
  const rules = { ttl: '1s', staleWhileRevalidate: '1h', jitter: 0, earlyRefresh: false } as const
  const make = () => createCache({ namespace: 'test', store, clock, ...rules })
  const [here, there] = [make(), make()]
  await calm.advance(10)
  let version = 1
  const definition = {
    name: 'item',
    load: (_: void, ctx: LoadContext) => {
      // "Unchanged since what you have": the source answers by the value's own version.
      if (ctx.previous !== undefined) return ctx.notModified()
      return version
    },
  }
  const [mine, theirs] = [here.define(definition), there.define(definition)]
  await mine.get()
  await calm.advance('2s')
  void mine.get() // stale: a refresh is to begin
  version = 2
  await mine.invalidate()
  await calm.advance(20)
  const values = Promise.all([mine.get(), theirs.get()])
  await calm.advance(20)
  expect(await values).toEqual([2, 2])
})
