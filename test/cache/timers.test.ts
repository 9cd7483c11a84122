// Found: durations over 2^31-1 ms reach a timer, which then fires at once.

import { describe, expect, it } from 'vitest'
import { createCache } from '../../src/index.ts'

describe('timers', () => {
  it.each(['30d', '60d'] as const)('a timeout of %s is long', async (timeout) => {
    const cache = createCache({ namespace: 'test', ttl: '60s' })
    const item = cache.define({
      name: 'item',
      load: (_: string) => new Promise<string>((r) => setTimeout(() => r('v'), 50)),
    })
    expect(await item.get('a', { timeout })).toBe('v')
  })

  it('limit.queue of 30 days is long', async () => {
    const cache = createCache({
      namespace: 'test',
      ttl: '60s',
      limit: { concurrency: 1, queue: '30d' },
    })
    const item = cache.define({
      name: 'item',
      load: (_: string) => new Promise<string>((r) => setTimeout(() => r('v'), 50)),
    })
    expect(await Promise.all([item.get('a'), item.get('b')])).toEqual(['v', 'v'])
  })
})
