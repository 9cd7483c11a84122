// What is the memory store's own: instants to the millisecond, and how it forgets.

import { describe, expect, it } from 'vitest'
import { frameLayout } from '../../src/core/frame.ts'
import { ExpiringMap } from '../../src/memory/expiring-map.ts'
import { memoryStore } from '../../src/memory/memory-store.ts'
import { asking, newFrame, newToken, put, take } from '../../src/testing/store-rig.ts'
import { openSession } from '../support/open-session.ts'

function openAt(start: number) {
  let now = start
  const clock = { now: () => now, random: () => 0, after: () => () => {} }
  const { session } = openSession(memoryStore(), { clock })
  return {
    session,
    pass: (ms: number) => {
      now += ms
    },
  }
}

describe('expire, to the millisecond', () => {
  const cases = [
    { freshIn: 50, swr: 100, sie: 0, life: 500, expired: 0, goneIn: 100 },
    { freshIn: 50, swr: 100, sie: 200, life: 500, expired: 0, goneIn: 200 },
    { freshIn: 50, swr: 100, sie: 200, life: 120, expired: 0, goneIn: 120 },
    { freshIn: 0, swr: 1, sie: 0, life: 500, expired: 0, goneIn: 1 },
    { freshIn: -1, swr: 2, sie: 0, life: 500, expired: -1, goneIn: 1 },
    { freshIn: -99, swr: 100, sie: 0, life: 500, expired: -99, goneIn: 1 },
    { freshIn: -100, swr: 100, sie: 0, life: 500, expired: undefined, goneIn: 0 },
    { freshIn: -101, swr: 100, sie: 0, life: 500, expired: undefined, goneIn: 0 },
    { freshIn: 50, swr: 0, sie: 0, life: 500, expired: undefined, goneIn: 0 },
  ]
  it.each(cases)('%j', async ({ freshIn, swr, sie, life, expired, goneIn }) => {
    const start = 1_000_000
    const { session, pass } = openAt(start)
    const windows = { staleWhileRevalidateMs: swr, staleIfErrorMs: sie }
    const frame = newFrame(newToken(), { freshUntil: start + freshIn, ...windows })
    await put(session, 'k', frame, life)
    await session.expire(['k'], newToken())
    const got = await session.read('k')
    const at = got && Buffer.from(got).readDoubleBE(frameLayout.expiredAtAt)
    expect(at).toBe(expired === undefined ? undefined : start + expired)
    if (goneIn > 0) {
      pass(goneIn - 1)
      expect(await session.read('k')).toBeDefined()
      pass(1)
    }
    expect(await session.read('k')).toBeUndefined()
  })

  it('also at the very beginning of a clock, where 0 would mean "not expired"', async () => {
    const { session } = openAt(0)
    await put(session, 'k', newFrame(newToken(), { freshUntil: 100, staleIfErrorMs: 100 }))
    await session.expire(['k'], newToken())
    const at = Buffer.from((await session.read('k'))!).readDoubleBE(frameLayout.expiredAtAt)
    expect(at).toBeGreaterThan(0)
    expect(at).toBeLessThan(1)
  })
})

it('a lease and a frame end at their instant, not before and not after', async () => {
  const { session, pass } = openAt(1_000)
  await take(session, 'k', { leaseMs: 100 })
  pass(99)
  expect(await session.acquire(asking('k', newToken()))).toMatchObject({ type: 'wait', ms: 1 })
  pass(1)
  const token = await take(session, 'k')
  await session.publish({ key: 'k', token, frame: newFrame(token), lifeMs: 100 })
  pass(99)
  expect(await session.read('k')).toBeDefined()
  pass(1)
  expect(await session.read('k')).toBeUndefined()
})

it('what nobody asks for again is forgotten all the same', () => {
  const map = new ExpiringMap<number>()
  let largest = 0
  for (let now = 0; now < 10_000; now += 1) {
    map.set(`k${now}`, now, now + 100, now)
    largest = Math.max(largest, map.size)
  }
  expect(largest).toBeLessThan(500)
  expect(map.get('k9999', 9_999)).toBe(9_999)
})

it('two stores share nothing', async () => {
  const [one, two] = [openSession(memoryStore()), openSession(memoryStore())]
  await put(one.session, 'k', newFrame(newToken()))
  expect(await two.session.read('k')).toBeUndefined()
})
