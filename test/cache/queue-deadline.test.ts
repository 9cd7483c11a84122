// The limiter's queue: one deadline for a whole call.

import { expect, it } from 'vitest'
import { world } from '../support/two-processes.ts'

it('I4: a call settles in time although its key is invalidated while it queues, again and again', async () => {
  const { clock, process } = world()
  const cache = await process({
    limit: { concurrency: 1, queue: '2s' },
    loadTimeout: '3s',
    waitTimeout: '3s',
  })
  const pause = (ms: number) => new Promise<void>((resolve) => void clock.after(ms, resolve))
  let busy = true
  const keepBusy = async (name: string) => {
    for (let n = 0; busy; n++)
      await cache.getOrLoad(`${name}${n}`, () => pause(400), { ttl: '1s' }).catch(() => {})
  }
  void keepBusy('a')
  void keepBusy('b')
  void keepBusy('c')
  await clock.advance(100)
  let settled = false
  cache
    .getOrLoad('k', () => 'value')
    .then(
      () => (settled = true),
      () => (settled = true),
    )
  for (let ms = 0; ms < 12_000; ms += 200) {
    void cache.invalidate('k')
    await clock.advance(200)
  }
  busy = false
  expect(settled).toBe(true)
})
