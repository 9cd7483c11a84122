// After a change a value is made again before anyone asks for it, whoever made the change, and how.

import { describe, expect, it, test } from 'vitest'
import { aheadRig } from '../support/ahead-rig.ts'
import { watched } from '../support/watched.ts'

const minute = 60_000

describe.each([
  ['with a store', false],
  ['without a store', true],
])('%s', (_, alone) => {
  it.each([
    ['invalidate', async ({ item }) => item.invalidate('a')],
    ['expire', async ({ item }) => item.expire('a')],
    ['clear', async ({ item }) => item.clear()],
    ['expireAll', async ({ item }) => item.expireAll()],
    ['clear of the cache', async ({ cache }) => cache.clear()],
    ['a tag of the definition', async ({ cache }) => cache.invalidateTags('fixed')],
    ['a tag of the cache’s own key', async ({ cache, item }) => cache.invalidate(item.key('a'))],
  ] satisfies [
    string,
    (one: ReturnType<ReturnType<typeof aheadRig>['process']>) => Promise<void>,
  ][])(
    // prettier-ignore
    '%s',
    async (name, change) => {
      const { process, run, of } = aheadRig()
      const one = process({ args: ['a'] }, { alone }, { tags: ['fixed'] })
      await run(2_000)
      const before = of('a').length
      await change(one)
      await run(1_000)
      // A key of the cache's own is another entry than an argument's.
      expect(of('a').length).toBe(before + (name.endsWith('own key') ? 0 : 1))
    },
  )

  it('a tag that a value has by a function', async () => {
    const { process, run, of } = aheadRig()
    const { cache } = process(
      {},
      { alone },
      { tags: (value: { id: string }) => [`id:${value.id}`] },
    )
    await run(2_000)
    const before = [of('a').length, of('b').length]
    await cache.invalidateTags('id:a')
    await run(1_000)
    expect([of('a').length, of('b').length]).toEqual([before[0]! + 1, before[1]!])
  })

  it('a value that is set is not loaded', async () => {
    const { process, run, of } = aheadRig()
    const { item } = process({ args: ['a'] }, { alone })
    await run(2_000)
    const before = of('a').length
    await item.set('a', { id: 'a', n: 7 })
    await run(1_000)
    expect(of('a').length).toBe(before)
    expect((await item.get('a')).n).toBe(7)
  })
})

test('T061 one who asks after a change in the middle of a load waits for the new load alone', async () => {
  const { process, run, source, of, since } = aheadRig()
  const { item } = process({ args: ['a'] }, {}, { earlyRefresh: false })
  source.ms = 5_000
  await run(1_000)
  expect(of('a')).toHaveLength(1)
  await item.invalidate('a')
  const asked = since()
  const got = watched(item.get('a'))
  await run(5_500)
  expect(got.state).toBe('resolved')
  expect(of('a')).toHaveLength(2)
  expect(of('a')[1]!.at - asked).toBeLessThan(500)
})

test('changes without end make no more than two loads at once, and the last one counts', async () => {
  const { process, run, source, loads, since } = aheadRig()
  const { item } = process({ args: ['a'] })
  source.ms = 1_000
  let most = 0
  for (let n = 0; n < 100; n++) {
    await item.invalidate('a')
    await run(100)
    most = Math.max(most, loads.filter(({ at }) => since() - at < 1_000).length)
  }
  expect(most).toBeLessThanOrEqual(2)
  source.answer = () => ({ id: 'a', n: -1 })
  await item.invalidate('a')
  await run(4_000)
  expect((await item.lookup('a')).value.n).toBe(-1)
})

describe('maxAge', () => {
  it("with 'wait': the background makes a newer one, once for all who ask", async () => {
    const { process, run, of } = aheadRig()
    const { item } = process({ args: ['a'] })
    await run(5_000)
    const before = of('a').length
    const all = Array.from({ length: 10 }, () => watched(item.get('a', { maxAge: 1_000 })))
    await run(200)
    expect(all.every(({ state }) => state === 'resolved')).toBe(true)
    expect(of('a').length).toBe(before + 1)
    expect(of('a').at(-1)!.reason).toBe('scheduled')
    // And one that is new enough is no reason to make another.
    const again = watched(item.get('a', { maxAge: 2_000 }))
    await run(200)
    expect(again.state).toBe('resolved')
    expect(of('a').length).toBe(before + 1)
  })
})

test('T016 by whatever process a value was made, all reckon the same next turn', async () => {
  const { process, run, source, of, clock } = aheadRig()
  // Loads of a third of the period: those who only hear of their end do not know when they began.
  source.ms = minute / 3
  const fleet = Array.from({ length: 3 }, () => process({ args: ['a'] }, { memory: false }))
  await run(4 * minute)
  const maker = of('a').at(-1)!.process
  const { cache, store } = fleet.find(({ number }) => number === maker)!
  store.hang()
  const closing = cache.close({ timeout: 0 }).catch(() => {})
  const at = clock.now()
  const before = of('a').length
  while (of('a').length === before) await run(100)
  await closing
  expect(clock.now() - at).toBeLessThan(1.5 * minute)
})
