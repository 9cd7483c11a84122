// What is left after close().

import { expect, it } from 'vitest'
import { createCache } from '../../src/index.ts'
import { manualClock, memoryStore } from '../../src/testing/index.ts'
import { heldStore } from '../support/held-store.ts'

function counting() {
  const inner = manualClock()
  const pending = new Set<object>()
  const clock = {
    ...inner,
    after: (ms: number, run: () => void) => {
      const timer = { ms }
      pending.add(timer)
      const stop = inner.after(ms, () => {
        pending.delete(timer)
        run()
      })
      return () => {
        pending.delete(timer)
        stop()
      }
    },
  }
  return { clock, pending }
}

it('I7: a load that queues at close gives its lease back, and no timer of it goes on', async () => {
  const { clock, pending } = counting()
  const store = memoryStore()
  const options = { namespace: 'test', ttl: '60s', store, clock } as const
  const here = createCache({ ...options, limit: { concurrency: 1, queue: '1h' } })
  const there = createCache(options)
  await clock.advance(10)
  here.getOrLoad('hangs', () => new Promise(() => {})).catch(() => {})
  await clock.advance(10)
  const queued = here.getOrLoad('queues', () => 'here')
  queued.catch(() => {})
  await clock.advance(10)
  expect(here.health().loads).toEqual({ running: 1, queued: 1 })
  const closing = here.close({ timeout: 0 })
  await clock.advance('1s')
  await closing
  await expect(queued).rejects.toMatchObject({ code: 'CLOSED' })
  const elsewhere = there.getOrLoad('queues', () => 'there')
  await clock.advance(100)
  expect(await Promise.race([elsewhere, Promise.resolve('still waits')])).toBe('there')
  await there.close()
  await clock.advance('1s')
  expect([...pending]).toEqual([])
})

it('I7: an invalidation that is under way at close leaves no timer', async () => {
  const { clock, pending } = counting()
  const link = heldStore(memoryStore())
  const cache = createCache({
    namespace: 'test',
    ttl: '60s',
    store: link,
    clock,
    storeTimeout: '1h',
  })
  await clock.advance(10)
  link.holdReplies('invalidate')
  const change = cache.invalidate('k')
  change.catch(() => {})
  await clock.advance(0)
  const closing = cache.close()
  await clock.advance(0)
  await closing
  await clock.advance(0)
  expect([...pending]).toEqual([])
})
