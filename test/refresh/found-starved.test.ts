// An attacker's: with callers who never cease to queue, nothing was made ahead any more.

import { expect, it } from 'vitest'
import { aheadRig } from '../support/ahead-rig.ts'

it('a process that is never without callers in its queue still makes values ahead', async () => {
  const { process, run, of, pause } = aheadRig()
  const { cache } = process(
    { args: ['a'], every: '10s' },
    { limit: { concurrency: 1, queue: '5s' } },
  )
  const slow = cache.define({ name: 'slow', load: async (n: number) => pause(100).then(() => n) })
  // Twice as many as can be loaded.
  for (let n = 0; n < 2_400; n++) {
    slow.get(n).catch(() => {})
    await run(50)
  }
  const made = of('a')
  expect(made.length).toBeGreaterThanOrEqual(10)
  // And no more than its share of the one place there is.
  expect(made.length).toBeLessThanOrEqual(14)
})
