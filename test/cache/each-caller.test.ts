// Found: what one caller asks for changes what another gets (I8), or covers too little or too long.

import { describe, expect, it } from 'vitest'
import { controlled } from '../support/two-processes.ts'
import { alone as local, watched as settled } from '../support/watched.ts'

describe('callers', () => {
  it('a read that joined a failing refresh() is covered by its stale value', async () => {
    const { clock, cache } = local({ staleIfError: '1h' })
    const loader = controlled<string>()
    const item = cache.define({ name: 'item', load: (_: string) => loader.load() })
    const first = item.get('a')
    await clock.advance(0)
    loader.end('old')
    await first
    await clock.advance('11s')
    const forced = settled(item.refresh('a'))
    const read = settled(item.get('a'))
    await clock.advance(0)
    while (loader.runs > 1) {
      try {
        loader.fail(new Error('no'))
      } catch {
        break
      }
    }
    await clock.advance(0)
    expect(forced.state).toBe('rejected')
    expect(read).toMatchObject({ state: 'resolved', value: 'old' })
  })

  it('a caller with maxAge that started the load does not take the stale value from those who joined', async () => {
    const { clock, cache } = local({ staleIfError: '1h' })
    const loader = controlled<string>()
    const item = cache.define({ name: 'item', load: (_: string) => loader.load() })
    const first = item.get('a')
    await clock.advance(0)
    loader.end('old')
    await first
    await clock.advance('11s')
    const strict = settled(item.get('a', { maxAge: 0 }))
    const read = settled(item.get('a'))
    await clock.advance(0)
    loader.fail(new Error('no'))
    await clock.advance(0)
    expect(strict.state).toBe('rejected')
    expect(read).toMatchObject({ state: 'resolved', value: 'old' })
  })

  it('a caller with maxAge and a timeout gets the stale value that is young enough for it', async () => {
    const { clock, cache } = local({ staleIfError: '1h' })
    const loader = controlled<string>()
    const item = cache.define({ name: 'item', load: (_: string) => loader.load() })
    const first = item.get('a')
    await clock.advance(0)
    loader.end('old')
    await first
    await clock.advance('11s')
    const read = settled(item.get('a', { maxAge: '30m', timeout: 50 }))
    await clock.advance(60)
    expect(read).toMatchObject({ state: 'resolved', value: 'old' })
  })

  it('softTimeout gives nobody a value whose window has ended', async () => {
    const { clock, cache } = local({ staleIfError: '1s', softTimeout: 100 })
    const loader = controlled<string>()
    const item = cache.define({ name: 'item', load: (_: string) => loader.load() })
    const first = item.get('a')
    await clock.advance(0)
    loader.end('old')
    await first
    await clock.advance('10500ms')
    const one = settled(item.get('a'))
    await clock.advance(100)
    expect(one.value).toBe('old')
    await clock.advance('2s')
    const two = settled(item.get('a'))
    await clock.advance(200)
    expect(two.state).toBe('pending')
    loader.end('new')
    await clock.advance(0)
    expect(two.value).toBe('new')
  })

  it('softTimeout also holds for one who joins a refresh that began in the background', async () => {
    const { clock, cache } = local({
      staleWhileRevalidate: '1s',
      staleIfError: '1h',
      softTimeout: 100,
    })
    const loader = controlled<string>()
    const item = cache.define({ name: 'item', load: (_: string) => loader.load() })
    const first = item.get('a')
    await clock.advance(0)
    loader.end('old')
    await first
    await clock.advance('10900ms')
    expect(await item.get('a')).toBe('old')
    await clock.advance(600)
    const two = settled(item.get('a'))
    await clock.advance(200)
    expect(two).toMatchObject({ state: 'resolved', value: 'old' })
  })

  it('an aborted caller is rejected with its reason, whatever that is, and gets no fallback', async () => {
    const { clock, cache } = local()
    const item = cache.define({
      name: 'item',
      load: (_: string) => new Promise<string>(() => {}),
      fallback: () => 'fb',
    })
    const reason = new Error('mine')
    const controller = new AbortController()
    const call = settled(item.get('a', { signal: controller.signal }))
    await clock.advance(1)
    controller.abort(reason)
    await clock.advance(1)
    expect(call).toEqual({ state: 'rejected', error: reason })
  })

  it('fallback covers a loader whose own request was aborted', async () => {
    const { cache } = local()
    const item = cache.define({
      name: 'item',
      load: async (_: string): Promise<string> => {
        throw new DOMException('x', 'AbortError')
      },
      fallback: () => 'fb',
    })
    expect(await item.get('a')).toBe('fb')
  })

  it('fallback covers although isFailure throws', async () => {
    const { cache } = local()
    const error = new Error('no')
    const item = cache.define({
      name: 'item',
      load: async (_: string): Promise<string> => {
        throw error
      },
      fallback: () => 'fb',
      isFailure: () => {
        throw new Error('bug')
      },
    })
    expect(await item.get('a').catch((e: unknown) => e)).toBe('fb')
  })

  it('enabled: false keeps no failure', async () => {
    const { cache } = local({ enabled: false, errorTtl: '10s' })
    let runs = 0
    const item = cache.define({
      name: 'item',
      load: async (_: string) => {
        if (++runs === 1) throw new Error('no')
        return 'v'
      },
    })
    await item.get('a').catch(() => {})
    expect(await item.get('a')).toBe('v')
  })

  it('T036 a background refresh that failed waits for errorBackoff, whatever isFailure says', async () => {
    const { clock, cache } = local({ staleWhileRevalidate: '1h', isFailure: () => false })
    let runs = 0
    const item = cache.define({
      name: 'item',
      load: async (_: string) => {
        if (++runs > 1) throw new Error('no')
        return 'v'
      },
    })
    await item.get('a')
    await clock.advance('11s')
    for (let n = 0; n < 50; n++) {
      await item.get('a').catch(() => {})
      await clock.advance(10)
    }
    expect(runs).toBeLessThan(4)
  })
})
