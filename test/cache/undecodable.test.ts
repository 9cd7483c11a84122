// A frame that is intact and cannot be decoded, where each caller is given a copy.

import { crc32 } from 'node:zlib'
import { expect, it } from 'vitest'
import { packFrame, plainBody } from '../../src/core/frame.ts'
import { createCache } from '../../src/index.ts'
import { manualClock, memoryStore } from '../../src/testing/index.ts'
import { rawFrames } from '../support/raw-frames.ts'

async function withHostileFrame(fresh: boolean) {
  const clock = manualClock()
  const store = memoryStore()
  const cache = createCache({
    namespace: 'test',
    ttl: '60s',
    staleIfError: '1h',
    store,
    clock,
    limit: { concurrency: 1, queue: 0 },
  })
  await clock.advance(10)
  const item = cache.define({ name: 'item', load: (id: string) => ({ id }), values: 'clone' })
  const now = clock.now()
  const head = {
    stamp: 'x'.repeat(22),
    startedAt: now - 2_000,
    storedAt: now - 2_000,
    freshUntil: fresh ? now + 60_000 : now - 1_000,
    staleWhileRevalidateMs: 0,
    staleIfErrorMs: 3_600_000,
    deltaMs: 0,
    asOf: Number.MAX_SAFE_INTEGER,
    negative: false,
    uncacheable: undefined,
    tags: [],
    meta: undefined,
  }
  const payload = new Uint8Array([0xc1, 0xff, 0xff])
  const frame = packFrame(head, plainBody(1, payload), crc32)
  await rawFrames(store, clock).write(item.key('a'), frame)
  await clock.advance(10)
  return { clock, cache, item }
}

it('I6: a payload that cannot be decoded is a miss and an event, with values: clone too', async () => {
  const { clock, cache, item } = await withHostileFrame(true)
  let events = 0
  cache.on('unreadable', () => events++)
  const value = item.get('a')
  value.catch(() => {})
  await clock.advance(10)
  expect(await value).toEqual({ id: 'a' })
  expect(events).toBe(1)
})

it('I6: a load that has such a payload as its previous value still runs, and leaves its place', async () => {
  const { clock, cache, item } = await withHostileFrame(false)
  for (const attempt of [1, 2]) {
    const value = item.get('a')
    value.catch(() => {})
    await clock.advance(10)
    await expect(value, `attempt ${attempt}`).resolves.toEqual({ id: 'a' })
  }
  expect(cache.health().loads.running).toBe(0)
})

it('and get never throws synchronously for it', async () => {
  const { clock, item } = await withHostileFrame(true)
  item.get('a').catch(() => {}) // takes it into memory
  await clock.advance(10)
  expect(() => void item.get('a').catch(() => {})).not.toThrow()
})
