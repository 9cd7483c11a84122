// What tags may cost: in the process, beside an entry, of one entry.

import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { describe, expect, test } from 'vitest'
import { createCache } from '../../src/index.ts'
import { manualClock, memoryStore } from '../../src/testing/index.ts'
import { tagRace } from '../support/tag-race.ts'

function heap(): number {
  setFlagsFromString('--expose-gc')
  const gc = runInNewContext('gc') as () => void
  gc()
  gc()
  return process.memoryUsage().heapUsed
}

describe('memory', () => {
  test.each([
    ['without a store', {}],
    ['with one that is gone', { store: 'failing' }],
  ])('of what is known of tags is bounded: %s', async (_, options) => {
    const clock = manualClock()
    const { process: start } = tagRace()
    let cache = createCache({ namespace: 'x', ttl: '1m', clock, memory: false })
    if ('store' in options) {
      const racer = await start()
      racer.link.failing = 'before'
      cache = racer.cache
    }
    const rounds = async (from: number, to: number) => {
      for (let n = from; n < to; n++) {
        const tags = Array.from({ length: 500 }, (_, i) => `a tag of some length ${n}/${i}`)
        await cache.invalidateTags(tags).catch(() => {})
      }
    }
    await rounds(0, 100)
    const before = heap()
    await rounds(100, 600)
    const grown = heap() - before
    expect(grown).toBeLessThan(20e6)
  })

  test('tags count for the bytes of an entry', async () => {
    const clock = manualClock()
    const store = memoryStore()
    const cache = createCache({
      namespace: 'x',
      ttl: '1h',
      clock,
      store,
      memory: { maxBytes: '1MiB' },
    })
    const item = cache.define({
      name: 'item',
      load: (n: number) => n,
      tags: (_, n) =>
        Array.from({ length: 500 }, (_, i) => `a tag of some length, ${n}, ${i}`.padEnd(100)),
    })
    await clock.advance(10)
    for (let n = 0; n < 100; n++) await item.get(n) // 5 MB of tags
    let held = 0
    for (let n = 0; n < 100; n++) {
      const { tier } = (await item.lookup(n)) as { tier: string }
      if (tier === 'memory') held++
    }
    expect(held).toBeLessThan(50)
  })
})

describe('tags that a loader says bit by bit', () => {
  test('are no more than may be said at once: the value is answered, not stored, and told of', async () => {
    const { process } = tagRace()
    const { cache } = await process()
    const failed: string[] = []
    cache.on('callbackFailed', ({ callback }) => failed.push(callback))
    let loads = 0
    const item = cache.define({
      name: 'item',
      load: (_id: number, ctx) => {
        for (let n = 0; n < 3; n++) {
          ctx.tags(...Array.from({ length: 500 }, (_, m) => `tag ${n}/${m}`))
        }
        return ++loads
      },
    })
    expect(await item.get(1)).toBe(1)
    expect(failed).toEqual(['tags'])
    expect((await item.peek(1)).state).toBe('missing')
  })
})
