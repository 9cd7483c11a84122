// Places, turns and their order; what is learnt of the source; loads per second.

import { describe, expect, it } from 'vitest'
import { Limiter, fixedPlaces, type Place, type Queued } from '../../src/flight/limiter.ts'
import { Rate } from '../../src/flight/rate.ts'
import { manualClock } from '../../src/testing/index.ts'

function setUp(places = 2) {
  const clock = manualClock()
  const own = { ...fixedPlaces(places), limit: places }
  const limiter = new Limiter({
    clock,
    queueMs: 1_000,
    places: own,
    rate: undefined,
    onLimit: () => {},
  })
  const order: string[] = []
  const errors: string[] = []
  const turns = new Map<string, Queued>()
  const held = new Map<string, Place>()
  const enter = (key: string, isBackground = false, ms = 1_000): void => {
    const entered = limiter.enter({ key, until: clock.now() + ms, isBackground })
    const begin = (place: Place): void => {
      order.push(key)
      held.set(key, place)
    }
    if (!('place' in entered)) return begin(entered)
    turns.set(key, entered)
    entered.place.then(begin, (error: { code: string }) => errors.push(`${key} ${error.code}`))
  }
  const leave = async (key: string): Promise<void> => {
    held.get(key)!.leave()
    await clock.advance(0)
  }
  return { clock, limiter, places: own, enter, leave, order, errors, turns, held }
}

describe('the order of turns', () => {
  it('the oldest first, as long as the queue has not stood for long', async () => {
    const { enter, leave, order } = setUp(1)
    for (const key of ['a', 'b', 'c']) enter(key)
    await leave('a')
    await leave('b')
    expect(order).toEqual(['a', 'b', 'c'])
  })

  it('the newest first under overload, and the oldest again when it is over', async () => {
    const { clock, enter, leave, order } = setUp(1)
    for (const key of ['a', 'b', 'c']) enter(key)
    await clock.advance(101)
    enter('d')
    await leave('a')
    await leave('d')
    await leave('c')
    expect(order).toEqual(['a', 'd', 'c', 'b'])
    for (const key of ['e', 'f']) enter(key)
    await leave('b')
    await leave('e')
    expect(order.slice(4)).toEqual(['e', 'f'])
  })

  it('callers before refreshes in the background, and one that a caller joins with them', async () => {
    const { enter, leave, order, turns, limiter } = setUp(1)
    for (const [key, isBackground] of [
      ['a', false], ['refresh 1', true], ['refresh 2', true], ['b', false],
    ] as const) enter(key, isBackground) // prettier-ignore
    expect(limiter.queued).toBe(3)
    turns.get('refresh 2')!.promote()
    turns.get('refresh 2')!.promote()
    await leave('a')
    await leave('b')
    await leave('refresh 2')
    expect(order).toEqual(['a', 'b', 'refresh 2', 'refresh 1'])
  })

  it('a quarter of the places is out of reach for refreshes, so that callers need not wait', async () => {
    const { enter, leave, order } = setUp(4)
    for (let n = 1; n <= 5; n++) enter(`refresh ${n}`, true)
    expect(order).toEqual(['refresh 1', 'refresh 2', 'refresh 3'])
    enter('a')
    expect(order[3]).toBe('a')
    await leave('a')
    expect(order).toHaveLength(4)
    await leave('refresh 1')
    expect(order[4]).toBe('refresh 4')
  })

  it('those who have left, or were too late, are passed over', async () => {
    const { clock, enter, leave, order, errors, turns, limiter } = setUp(1)
    enter('a')
    enter('b', false, 50)
    enter('c')
    enter('d')
    turns.get('c')!.cancel({ code: 'left' })
    turns.get('c')!.ride()
    await clock.advance(60)
    expect(errors).toEqual(['c left', 'b OVERLOADED'])
    await leave('a')
    expect(order).toEqual(['a', 'd'])
    expect([limiter.running, limiter.queued]).toEqual([1, 0])
  })
})

describe('places', () => {
  it('more of them: who waits begins; fewer: nobody does until enough have left', async () => {
    const { enter, leave, order, places, limiter } = setUp(1)
    for (const key of ['a', 'b', 'c', 'd', 'e']) enter(key)
    places.limit = 3
    limiter.next()
    expect(order).toHaveLength(1)
    await leave('none').catch(() => {})
    expect(order).toEqual(['a', 'b', 'c'])
    places.limit = 1
    await leave('a')
    await leave('b')
    expect(order).toHaveLength(3)
    await leave('c')
    expect(order).toEqual(['a', 'b', 'c', 'd'])
  })

  it('an abandoned load counts until it ends, or can no longer be thought to end', async () => {
    const { clock, enter, held, limiter, order } = setUp(1)
    const never = new Promise(() => {})
    enter('a')
    held.get('a')!.abandon(never, 5_000)
    expect([limiter.running, limiter.abandoned]).toEqual([0, 1])
    expect(() => enter('b')).toThrowError(/abandoned/)
    await clock.advance(5_000)
    expect(limiter.abandoned).toBe(0)
    enter('b')
    held.get('b')!.abandon(Promise.reject(new Error('late')), 5_000)
    await clock.advance(0)
    expect(limiter.abandoned).toBe(0)
    enter('c')
    expect(order).toEqual(['a', 'b', 'c'])
  })

  it('I7 at the end no timer is left, whatever goes on', async () => {
    const left = new Set<object>()
    const clock = manualClock()
    const watched = {
      ...clock,
      after: (ms: number, run: () => void) => {
        const timer = {}
        left.add(timer)
        const cancel = clock.after(ms, () => (left.delete(timer), run()))
        return () => (left.delete(timer), cancel())
      },
    }
    const rate = new Rate({ answerMs: 100,
      clock: watched, perSecond: 1, ask: () => undefined, detached: (run) => run(),
      onTokens: () => limiter.next(),
    }) // prettier-ignore
    const limiter: Limiter = new Limiter({
      clock: watched, queueMs: 1_000, places: fixedPlaces(4), rate, onLimit: () => {},
    }) // prettier-ignore
    const enter = (key: string) =>
      limiter.enter({ key, until: clock.now() + 1_000, isBackground: false })
    const place = await (enter('a') as Queued).place
    place.abandon(new Promise(() => {}), 5_000)
    const second = enter('b') as Queued
    second.place.catch(() => {})
    expect(left.size).toBe(3)
    second.cancel(new Error('closed'))
    limiter.close()
    expect(left.size).toBe(0)
  })
})
