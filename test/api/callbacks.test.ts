// Callbacks of the user that throw: the value is never lost, and somebody is told.

import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createCache, type CacheOptions, type Definition } from '../../src/index.ts'
import { manualClock } from '../../src/testing/index.ts'

const fault = new Error('a fault of the callback')
const thrower = (): never => {
  throw fault
}

const unhandled: unknown[] = []
const onUnhandled = (error: unknown) => void unhandled.push(error)
beforeEach(() => {
  unhandled.length = 0
  process.on('unhandledRejection', onUnhandled)
})
afterEach(async () => {
  await new Promise((resolve) => setImmediate(resolve))
  process.off('unhandledRejection', onUnhandled)
  if (unhandled.length > 0) throw new Error('unhandled', { cause: unhandled[0] })
})

function setUp(
  definition: Partial<Definition<string, unknown>>,
  options: Partial<CacheOptions> = {},
) {
  const clock = manualClock()
  const cache = createCache({ namespace: 'test', ttl: '60s', clock, ...options })
  const faults: unknown[] = []
  cache.on('callbackFailed', (event) => faults.push(event))
  let loads = 0
  const item = cache.define<string, unknown>({ name: 'item', load: () => ++loads, ...definition })
  return { clock, cache, item, faults, loads: () => loads }
}

describe('isNegative that throws', () => {
  it('loses no value: answered, not stored, told of', async () => {
    const { cache, item, faults } = setUp({ isNegative: thrower })
    expect(await item.get('a')).toBe(1)
    expect(await item.peek('a')).toEqual({ state: 'missing' })
    expect(faults).toEqual([
      { name: 'item', key: item.key('a'), callback: 'isNegative', error: fault },
    ])
    expect(await item.get('a')).toBe(2)
    expect(cache.counters()['item']).toMatchObject({ loaded: 2, failed: 0 })
  })
})

describe('isFailure', () => {
  it('that throws counts as a failure: the stale value covers it', async () => {
    let fails = false
    const load = () => {
      if (fails) throw new Error('loader')
      return 'value'
    }
    const { clock, item, faults } = setUp({ load, isFailure: thrower, staleIfError: '1h' })
    await item.get('a')
    fails = true
    await clock.advance('61s')
    expect(await item.lookup('a')).toMatchObject({ outcome: 'stale', value: 'value' })
    expect(faults).toContainEqual(expect.objectContaining({ callback: 'isFailure', error: fault }))
  })

  it('false means an answer: nothing covers it, and no fallback stands in for it', async () => {
    const gone = new Error('410')
    let fails = false
    const load = () => {
      if (fails) throw gone
      return 'value'
    }
    const { clock, item } = setUp({
      load,
      isFailure: (error) => error !== gone,
      staleIfError: '1h',
      fallback: () => 'fallback',
    })
    await item.get('a')
    fails = true
    await clock.advance('61s')
    await expect(item.get('a')).rejects.toBe(gone)
  })
})

describe('fallback', () => {
  const load = () => {
    throw new Error('loader')
  }
  it('is given the error and the argument, is not stored, and is told apart', async () => {
    const asked: unknown[] = []
    const { cache, item } = setUp({
      load,
      fallback: (error, arg) => {
        asked.push([(error as Error).message, arg])
        return 'instead'
      },
    })
    const answers: unknown[] = []
    cache.on('answer', (event) => answers.push(event))
    expect(await item.get('a')).toBe('instead')
    expect(await item.lookup('a')).toEqual({ outcome: 'fallback', value: 'instead' })
    expect(await item.peek('a')).toEqual({ state: 'missing' })
    expect(asked).toEqual([['loader', 'a'], ['loader', 'a']]) // prettier-ignore
    expect(answers).toEqual(
      [1, 2].map(() => ({ name: 'item', key: item.key('a'), outcome: 'fallback' })),
    )
    expect(cache.counters()['item']).toMatchObject({ fallback: 2, loadsFailed: 2 })
    expect(await cache.getOrLoad('b', load as () => string, { fallback: (_, key) => key })).toBe(
      'b',
    )
  })

  it('is not asked while something stale may be served', async () => {
    let fails = false
    const { clock, item } = setUp({
      load: () => (fails ? load() : 'value'),
      staleIfError: '1h',
      fallback: () => 'fallback',
    })
    await item.get('a')
    fails = true
    await clock.advance('61s')
    expect(await item.get('a')).toBe('value')
  })

  it('does not stand in for refresh, which rejects when the load fails', async () => {
    const { item } = setUp({ load, fallback: () => 'fallback' })
    await expect(item.refresh('a')).rejects.toThrow('loader')
  })
})

describe('a listener that throws', () => {
  it('harms nobody, not even another listener', async () => {
    const { cache, item } = setUp({})
    const told: string[] = []
    for (const event of ['answer', 'load', 'invalidated'] as const) {
      cache.on(event, thrower)
      cache.on(event, () => void told.push(event))
    }
    expect(await item.get('a')).toBe(1)
    expect(await item.get('a')).toBe(1)
    await item.invalidate('a')
    expect(told.sort()).toEqual(['answer', 'answer', 'invalidated', 'load'])
  })

  it('may be removed, each registration by itself', async () => {
    const { cache, item } = setUp({})
    let told = 0
    const listener = () => void told++
    const [stop, stopAgain] = [cache.on('answer', listener), cache.on('answer', listener)]
    await item.get('a')
    expect(told).toBe(2)
    stop()
    stop()
    await item.get('a')
    expect(told).toBe(3)
    stopAgain()
    await item.get('a')
    expect(told).toBe(3)
  })
})

describe('waitUntil', () => {
  it('is given every background refresh, and may throw', async () => {
    const given: Promise<unknown>[] = []
    let throws = false
    const { clock, item, faults } = setUp(
      { staleWhileRevalidate: '1h' },
      {
        waitUntil: (work) => {
          given.push(work)
          if (throws) thrower()
        },
      },
    )
    await item.get('a')
    expect(given).toHaveLength(0)
    for (const run of [1, 2]) {
      throws = run === 2
      await clock.advance('61s')
      expect(await item.get('a')).toBe(run)
      await clock.advance(1)
      expect(given).toHaveLength(run)
      await given[run - 1]
    }
    expect(faults).toEqual([expect.objectContaining({ callback: 'waitUntil', error: fault })])
    expect(await item.get('a')).toBe(3)
  })

  it('is given work that never rejects', async () => {
    const given: Promise<unknown>[] = []
    let fails = false
    const load = () => (fails ? thrower() : 'value')
    const { clock, item } = setUp(
      { load, staleWhileRevalidate: '1h' },
      { waitUntil: (work) => void given.push(work) },
    )
    await item.get('a')
    fails = true
    await clock.advance('61s')
    expect(await item.get('a')).toBe('value')
    await clock.advance(1)
    await expect(Promise.all(given)).resolves.toHaveLength(1)
  })
})

describe('a key function that throws', () => {
  it('rejects the call, synchronously never, and starts nothing', async () => {
    const { item, loads } = setUp({ key: thrower })
    for (const verb of ['get', 'lookup', 'refresh', 'peek', 'invalidate', 'expire'] as const) {
      await expect(item[verb]('a')).rejects.toBe(fault)
    }
    await expect(item.set('a', 1)).rejects.toBe(fault)
    await expect(item.getMany(['a'])).rejects.toBe(fault)
    expect(loads()).toBe(0)
  })
})
