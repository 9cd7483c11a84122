// staleIfError: waits for the load, and is covered when that fails or takes too long.

import { describe, expect, it } from 'vitest'
import { controlled, world } from '../support/two-processes.ts'
import { filled, watched } from '../support/watched.ts'

const error = new Error('the source is down')

describe('staleIfError', () => {
  it('waits for the load, and covers its failure up to the end of the window', async () => {
    const { clock, loader, item } = await filled({ staleIfError: '5s', errorBackoff: 0 })
    await clock.advance(14_998)
    const covered = watched(item.lookup('a'))
    await clock.advance(0)
    expect(covered.state).toBe('pending')
    loader.fail(error)
    await clock.advance(1)
    expect(covered.value).toMatchObject({ outcome: 'stale', value: 'old' })
    await clock.advance(1)
    const over = watched(item.get('a'))
    await clock.advance(0)
    loader.fail(error)
    await clock.advance(0)
    expect(over).toEqual({ state: 'rejected', error })
  })

  it('does not cover what isFailure calls an answer', async () => {
    const gone = new Error('404')
    const { clock, loader, item } = await filled({
      staleIfError: '1h',
      isFailure: (thrown) => thrown !== gone,
    })
    await clock.advance('11s')
    const call = watched(item.get('a'))
    await clock.advance(0)
    loader.fail(gone)
    await clock.advance(0)
    expect(call).toEqual({ state: 'rejected', error: gone })
  })

  it('covers, and tells, when isFailure itself throws', async () => {
    const { clock, cache, loader, item } = await filled({
      staleIfError: '1h',
      isFailure: () => {
        throw new Error('a fault')
      },
    })
    const told: unknown[] = []
    cache.on('callbackFailed', ({ callback }) => told.push(callback))
    await clock.advance('11s')
    const call = watched(item.get('a'))
    await clock.advance(0)
    loader.fail(error)
    await clock.advance(0)
    expect(call.value).toBe('old')
    expect(told).toContain('isFailure')
  })

  it('softTimeout answers with the stale value, and the load goes on', async () => {
    const { clock, loader, item } = await filled({ staleIfError: '1h', softTimeout: 100 })
    await clock.advance('11s')
    const call = watched(item.lookup('a'))
    await clock.advance(99)
    expect(call.state).toBe('pending')
    await clock.advance(1)
    expect(call.value).toMatchObject({ outcome: 'stale', value: 'old' })
    loader.end('new')
    await clock.advance(0)
    expect(await item.get('a')).toBe('new')
    expect(loader.runs).toBe(2)
  })

  it('T024 covers nothing after an invalidation, from no tier', async () => {
    const { clock, process } = world()
    const loader = controlled<string>()
    const [one, two] = [
      (await process({ staleIfError: '1h' })).define({
        name: 'item',
        load: (_id: string) => loader.load(),
      }),
      (await process({ staleIfError: '1h' })).define({
        name: 'item',
        load: (_id: string) => loader.load(),
      }),
    ]
    const first = one.get('k')
    await clock.advance(0)
    loader.end('old')
    await first
    await two.get('k')
    await clock.advance('61s')
    await one.invalidate('k')
    await clock.advance(0)
    for (const item of [one, two]) {
      const call = watched(item.get('k'))
      await clock.advance(0)
      loader.fail(error)
      await clock.advance(0)
      expect(call.state).toBe('rejected')
      await clock.advance('2s')
    }
  })

  it('while another process loads, waits, and is covered when that load fails', async () => {
    const { clock, process } = world()
    const loader = controlled<string>()
    const items = []
    for (let n = 0; n < 2; n++) {
      const cache = await process({ staleIfError: '1h' })
      items.push(cache.define({ name: 'item', load: (_id: string) => loader.load() }))
    }
    const first = items[0]!.get('k')
    await clock.advance(0)
    loader.end('old')
    await first
    await items[1]!.get('k')
    await clock.advance('61s')
    const calls = items.map((item) => watched(item.lookup('k')))
    await clock.advance(10)
    expect(calls.map(({ state }) => state)).toEqual(['pending', 'pending'])
    expect(loader.runs).toBe(2)
    loader.fail(error)
    await clock.advance(10)
    for (const call of calls) expect(call.value).toMatchObject({ outcome: 'stale', value: 'old' })
    // Neither tries again within errorBackoff.
    for (const item of items) expect(await item.get('k')).toBe('old')
    expect(loader.runs).toBe(2)
  })
})
