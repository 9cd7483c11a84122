// What an older value covers, and how long a failure is remembered.

import { expect, it } from 'vitest'
import { controlled, world } from '../support/two-processes.ts'

it('a loader whose own nested read ran out of time has failed like any other: stale covers it', async () => {
  const { clock, process } = world()
  const cache = await process()
  const slow = controlled<string>()
  const inner = cache.define({ name: 'inner', load: slow.load })
  let nested = false
  const outer = cache.define({
    name: 'outer',
    load: () => (nested ? inner.get(undefined, { timeout: '50ms' }) : 'old'),
    ttl: '1s',
    staleIfError: '1h',
  })
  const first = outer.get()
  await clock.advance(10)
  expect(await first).toBe('old')
  nested = true
  await clock.advance('2s')
  const second = outer.get()
  second.catch(() => {})
  await clock.advance('1s')
  expect(await second).toBe('old')
})

it('errorTtl: a success ends the memory of an earlier failure', async () => {
  const { clock, process } = world()
  const cache = await process({ store: undefined })
  let broken = true
  const item = cache.define({
    name: 'item',
    load: () => {
      if (broken) throw new Error('down')
      return 'up'
    },
    ttl: '1s',
    errorTtl: '10s',
  })
  await expect(item.get()).rejects.toThrow('down')
  broken = false
  expect(await item.refresh()).toBe('up')
  await clock.advance('2s') // the value of the refresh has expired, the failure is older still
  expect(await item.get()).toBe('up')
})
