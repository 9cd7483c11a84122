// A waiter does not sleep out the lease of a holder whose value can no longer reach it.

import { expect, it } from 'vitest'
import { controlled, world } from '../support/two-processes.ts'
import { watched } from '../support/watched.ts'

it.each(['fail', 'hang'] as const)('a store that begins to %s while it waits', async (how) => {
  const { clock, process, faulty } = world()
  const holder = await process()
  const { cache, link } = await faulty({ lease: '30s', loadTimeout: '60s' })
  const slow = controlled<string>()
  const theirs = holder.define({ name: 'item', load: () => slow.load(), lease: '30s' })
  const mine = cache.define({ name: 'item', load: async () => 'own' })
  watched(theirs.get())
  await clock.advance(10)
  const waiting = watched(mine.get())
  await clock.advance(10)
  expect(waiting.state).toBe('pending')
  link[how]()
  for (let n = 0; n < 6; n++) watched(cache.peek(`other ${n}`)) // the breaker opens
  await clock.advance(300)
  expect(waiting).toMatchObject({ state: 'resolved', value: 'own' })
})
