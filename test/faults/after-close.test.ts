// The end of a cache: drained, bounded, everyone told, nothing left behind. In virtual time.

import { describe, expect, it } from 'vitest'
import { createCache } from '../../src/index.ts'
import { manualClock } from '../../src/testing/index.ts'
import { controlled } from '../support/two-processes.ts'

const closed = { code: 'CLOSED' }

describe('close', () => {
  it('T160 calls after close reject also for what was loaded while it drained', async () => {
    const clock = manualClock()
    const cache = createCache({ namespace: 'test', ttl: '1m', clock })
    const loader = controlled<string>()
    const item = cache.define({ name: 'item', load: (_id: string) => loader.load() })
    const caller = item.get('k')
    await clock.advance(0)
    const closing = cache.close()
    loader.end('value')
    await clock.advance(200)
    await closing
    expect(await caller).toBe('value')
    await expect(item.get('k')).rejects.toMatchObject(closed)
  })
})
