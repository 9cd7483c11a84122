// staleWhileRevalidate: served at once, refreshed once, and never waited for.

import { describe, expect, it } from 'vitest'
import { controlled, world } from '../support/two-processes.ts'
import { filled, watched } from '../support/watched.ts'

const error = new Error('the source is down')

describe('staleWhileRevalidate', () => {
  it('T016 T018 serves all at once and refreshes once, from 1 ms after ttl to the end of the window', async () => {
    const { clock, loader, item, reasons } = await filled({ staleWhileRevalidate: '5s' })
    await clock.advance(9_999)
    expect(await item.lookup('a')).toMatchObject({ outcome: 'hit', value: 'old' })
    expect(loader.runs).toBe(1)
    await clock.advance(1)
    for (let n = 0; n < 10; n++) {
      expect(await item.lookup('a')).toMatchObject({ outcome: 'stale', value: 'old' })
    }
    await clock.advance(4_999)
    expect(await item.lookup('a')).toMatchObject({ outcome: 'stale', value: 'old' })
    expect(loader.runs).toBe(2)
    await clock.advance(1)
    const call = watched(item.get('a'))
    await clock.advance(0)
    expect(call.state).toBe('pending')
    loader.end('new')
    await clock.advance(0)
    expect(call.value).toBe('new')
    expect(loader.runs).toBe(2)
    expect(reasons).toEqual(['miss', 'stale'])
  })

  it('T016 refreshes once across four processes', async () => {
    const { clock, process } = world()
    const loader = controlled<string>()
    const items = []
    for (let n = 0; n < 4; n++) {
      const cache = await process({ staleWhileRevalidate: '1h' })
      items.push(cache.define({ name: 'item', load: (_id: string) => loader.load() }))
    }
    const first = items[0]!.get('k')
    await clock.advance(0)
    loader.end('old')
    await first
    for (const item of items) await item.get('k')
    await clock.advance('61s')
    const calls = items.flatMap((item) => Array.from({ length: 25 }, () => watched(item.get('k'))))
    await clock.advance(50)
    expect(calls.every(({ value }) => value === 'old')).toBe(true)
    expect(loader.runs).toBe(2)
    loader.end('new')
    await clock.advance(50)
    for (const item of items) expect(await item.get('k')).toBe('new')
    expect(loader.runs).toBe(2)
  })

  it('T022 never makes a call wait that may be served, whatever is under way', async () => {
    const { clock, loader, item } = await filled({ staleWhileRevalidate: '1h', waitTimeout: '5s' })
    await clock.advance('11s')
    for (let n = 0; n < 5; n++) {
      const call = watched(item.get('a'))
      await clock.advance(0)
      expect(call.value).toBe('old')
      await clock.advance(500)
    }
    expect(loader.runs).toBe(2)
  })

  it('T036 does not try again within errorBackoff, and serves stale meanwhile', async () => {
    const { clock, loader, item } = await filled({
      staleWhileRevalidate: '1h',
      errorBackoff: '2s',
    })
    await clock.advance('11s')
    await item.get('a')
    await clock.advance(0)
    loader.fail(error)
    await clock.advance(1_999)
    expect(await item.get('a')).toBe('old')
    await clock.advance(0)
    expect(loader.runs).toBe(2)
    await clock.advance(1)
    expect(await item.get('a')).toBe('old')
    await clock.advance(0)
    expect(loader.runs).toBe(3)
  })

  it('T027 T028 tells of each failed background refresh once, and rejects nobody', async () => {
    const { clock, cache, loader, item } = await filled({ staleWhileRevalidate: '1h' })
    const unhandled: unknown[] = []
    const onUnhandled = (reason: unknown): void => void unhandled.push(reason)
    process.on('unhandledRejection', onUnhandled)
    try {
      const told: unknown[] = []
      cache.on('loadFailed', (event) => {
        told.push(event)
        throw new Error('a listener with a fault')
      })
      await clock.advance('11s')
      await item.get('a')
      await clock.advance(0)
      loader.fail(error)
      await clock.advance(10)
      expect(told).toEqual([{ name: 'item', key: item.key('a'), error, reason: 'stale' }])
      expect(cache.counters()['item']).toMatchObject({ loadsFailed: 1, failed: 0 })
      expect(unhandled).toEqual([])
    } finally {
      process.off('unhandledRejection', onUnhandled)
    }
  })

  it('T037 gives every background refresh to waitUntil, and idle() waits for them', async () => {
    const given: Promise<unknown>[] = []
    const { clock, cache, loader, item } = await filled({
      staleWhileRevalidate: '1h',
      waitUntil: (work) => void given.push(work),
    })
    const before = given.length
    await clock.advance('11s')
    await item.get('a')
    expect(given).toHaveLength(before + 1)
    const over = watched(given[before]!)
    const idle = watched(cache.idle())
    await clock.advance(0)
    expect([over.state, idle.state]).toEqual(['pending', 'pending'])
    loader.fail(error)
    await clock.advance(0)
    expect([over.state, idle.state]).toEqual(['resolved', 'resolved'])
  })

  it('T033 does not serve stale after a removal', async () => {
    const { clock, loader, item } = await filled({ staleWhileRevalidate: '1h', staleIfError: '1h' })
    await clock.advance('11s')
    await item.invalidate('a')
    const call = watched(item.get('a'))
    await clock.advance(0)
    expect(call.state).toBe('pending')
    loader.fail(error)
    await clock.advance(0)
    expect(call).toEqual({ state: 'rejected', error })
  })
})

it('both windows are counted from the end of ttl, and the longer one keeps the frame', async () => {
  const { clock, process } = world()
  const options = { ttl: '10s', staleWhileRevalidate: '2s', staleIfError: '20s' } as const
  const one = await process(options)
  await one.getOrLoad('k', () => 'old')
  await clock.advance(29_980)
  const two = await process(options) // takes 10 ms
  expect(await two.peek('k')).toMatchObject({ state: 'stale', value: 'old' })
  await clock.advance(20)
  expect(await two.peek('k')).toEqual({ state: 'missing' })
  expect(await (await process(options)).peek('k')).toEqual({ state: 'missing' })
})
