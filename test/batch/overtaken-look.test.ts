// What a batch found is judged before it is told. A change that comes in between, by whoever asks
// next, must hold for his own read: he may not join what was judged before it.

import { expect, test } from 'vitest'
import { createCache } from '../../src/index.ts'
import { manualClock, memoryStore } from '../../src/testing/index.ts'

test.each(['invalidateTags', 'expireTags', 'clear'] as const)(
  'who asks after %s joins no batch whose answer was judged before it',
  async (how) => {
    const clock = manualClock()
    const store = memoryStore()
    let version = 0
    const cache = createCache({ namespace: 'x', ttl: '1m', clock, store, memory: false })
    const item = cache.define({ name: 'item', load: async (_: string) => ++version, tags: ['t'] })
    await clock.advance(10)
    // At every step on the way of a batch.
    for (let steps = 0; steps < 40; steps++) {
      await item.getMany(['a', 'b'])
      await clock.advance(10)
      const before = version
      const batch = item.getMany(['a', 'b'])
      for (let step = 0; step < steps; step++) await Promise.resolve()
      const change = how === 'clear' ? item.clear() : cache[how]('t')
      const after = item.get('a')
      await clock.advance(10)
      await Promise.all([change, batch])
      expect(await after, `after ${steps} steps`).toBeGreaterThan(before)
    }
  },
)
