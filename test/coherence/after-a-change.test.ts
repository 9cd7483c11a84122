// What is left of an entry after it was invalidated, expired or written: nothing that could come back.

import { describe, expect, it } from 'vitest'
import { createCache, type LoadContext } from '../../src/index.ts'
import { define, race, watch } from '../support/races.ts'
import { controlled } from '../support/two-processes.ts'

describe('after an invalidation', () => {
  it('T024 a failing load reaches its caller: nothing old covers it, from no tier', async () => {
    const { clock, here, there } = await race()
    const options = { ttl: '1s', staleWhileRevalidate: '1h', staleIfError: '1h' }
    let down = false
    const load = (): string => {
      if (down) throw new Error('down')
      return 'old'
    }
    const a = define<string>(here, load, options)
    const b = define<string>(there, load, options)
    expect([await a.get('k'), await b.get('k')]).toEqual(['old', 'old'])
    await clock.advance(2_000)
    down = true
    await a.invalidate('k')
    await clock.advance(1)
    await expect(a.get('k')).rejects.toThrow('down')
    await expect(b.get('k')).rejects.toThrow('down')
  })

  it('T064 the very next read loads; after an expiry it may be stale once', async () => {
    const { clock, here } = await race()
    let version = 1
    const options = { ttl: '60s', staleWhileRevalidate: '1h' }
    const item = define<number>(here, () => version, options)
    expect(await item.get('k')).toBe(1)
    version = 2
    await item.invalidate('k')
    expect(await item.get('k')).toBe(2)
    version = 3
    await item.expire('k')
    expect(await item.get('k')).toBe(2)
    await clock.advance(1)
    expect(await item.get('k')).toBe(3)
  })

  it('T033 nothing is left in the store: neither value nor lease nor mark', async () => {
    const { clock, here, there } = await race()
    const a = define<null>(here, (_: never, ctx: LoadContext) => {
      ctx.noStore()
      return null
    })
    await a.get('k')
    await a.invalidate('k')
    await clock.advance(1)
    let runs = 0
    const b = define<number>(there, () => ++runs)
    expect(await b.get('k')).toBe(1)
    expect(await b.get('k')).toBe(1)
    expect(there.counters()['item']).toMatchObject({ leases: 1, published: 1 })
  })

  it('T078 what is loaded afterwards is kept like anything else', async () => {
    const { clock, here, there } = await race()
    let version = 1
    const a = define<number>(here, () => version)
    const b = define<number>(there, () => version)
    await a.get('k')
    version = 2
    await b.invalidate('k')
    await clock.advance(1)
    for (let n = 0; n < 5; n++) {
      expect([await a.get('k'), await b.get('k')]).toEqual([2, 2])
      await clock.advance(5_000)
    }
    const loads = here.counters()['item']!.loads + there.counters()['item']!.loads
    expect(loads).toBe(2)
  })

  it('a back-off and a remembered failure are gone: the next call loads', async () => {
    const { clock, here, there } = await race()
    let down = true
    const load = (): string => {
      if (down) throw new Error('down')
      return 'up'
    }
    const a = define<string>(here, load, { errorTtl: '1h' })
    const b = define<string>(there, load, { errorTtl: '1h' })
    await expect(a.get('k')).rejects.toThrow('down')
    await expect(b.get('k')).rejects.toBeDefined()
    down = false
    await expect(a.get('k')).rejects.toThrow('down')
    await b.invalidate('k')
    await clock.advance(1)
    expect(await a.get('k')).toBe('up')
    expect(await b.get('k')).toBe('up')
  })

  it('`previous` is absent, and notModified() is refused', async () => {
    const { clock, here, there } = await race()
    const options = { ttl: '1s', staleWhileRevalidate: '1h' }
    const seen: unknown[] = []
    const load = (_: never, ctx: LoadContext): string => {
      seen.push(ctx.previous?.value)
      return 'v'
    }
    const a = define<string>(here, load, options)
    const b = define<string>(there, load, options)
    await a.get('k')
    await clock.advance(1_500)
    await b.invalidate('k')
    await clock.advance(1)
    await a.get('k')
    expect(seen).toEqual([undefined, undefined])
    await b.invalidate('k')
    await clock.advance(1)
    const c = createCache({ namespace: 'alone', ttl: '1s', clock })
    await expect(c.getOrLoad('k', (ctx): string => ctx.notModified())).rejects.toMatchObject({
      code: 'NO_PREVIOUS',
    })
  })

  it('invalidateMany and expireMany reach each key in both processes', async () => {
    const { clock, here, there } = await race()
    let version = 1
    const a = define<number>(here, () => version)
    const b = define<number>(there, () => version)
    const keys = ['x', 'y', 'z']
    for (const change of ['invalidateMany', 'expireMany'] as const) {
      for (const key of keys) await Promise.all([a.get(key), b.get(key)])
      version++
      await a[change](keys)
      await clock.advance(1)
      for (const key of keys) {
        expect([await a.get(key), await b.get(key)]).toEqual([version, version])
      }
    }
  })
})

describe('writes and invalidations of one process at once', () => {
  it('set vs set: every tier ends with the last one', async () => {
    const { clock, link, here, there } = await race()
    const a = define<number>(here, () => 0)
    const b = define<number>(there, () => 0)
    link.holdReplies('write')
    const sets = [a.set('k', 1), a.set('k', 2), a.set('k', 3)]
    await clock.advance(1)
    link.releaseReplies('write')
    await Promise.all(sets)
    await clock.advance(1)
    expect([await a.get('k'), await b.get('k')]).toEqual([3, 3])
  })

  it.each([true, false])(
    'set vs invalidate: nothing is kept of a set that was overtaken (bus first: %s)',
    async (busFirst) => {
      const { clock, link, here, there } = await race()
      const a = define<string>(here, () => 'loaded')
      const b = define<string>(there, () => 'loaded')
      link.holdReplies('write')
      if (!busFirst) link.holdBus()
      const set = a.set('k', 'set')
      await clock.advance(1)
      await b.invalidate('k')
      await clock.advance(1)
      link.releaseReplies('write')
      await set
      await clock.advance(1)
      link.releaseBus()
      await clock.advance(1)
      expect([await a.get('k'), await b.get('k')]).toEqual(['loaded', 'loaded'])
    },
  )

  it('set in two processes: both end with what the store has', async () => {
    const { clock, link, here, there } = await race()
    const a = define<string>(here, () => 'loaded')
    const b = define<string>(there, () => 'loaded')
    link.holdReplies('write')
    const first = a.set('k', 'a')
    await clock.advance(1)
    await b.set('k', 'b')
    await clock.advance(1)
    link.releaseReplies('write')
    await first
    await clock.advance(1)
    expect([await a.get('k'), await b.get('k')]).toEqual(['b', 'b'])
  })

  it('an echo that comes after the reply does not undo what was loaded since', async () => {
    const { clock, link, here } = await race()
    let version = 1
    const item = define<number>(here, () => version)
    await item.get('k')
    version = 2
    link.holdBus()
    await item.invalidate('k')
    expect(await item.get('k')).toBe(2)
    link.releaseBus()
    await clock.advance(1)
    const seen = await item.lookup('k')
    expect(seen).toMatchObject({ outcome: 'hit', tier: 'memory', value: 2 })
    await item.set('s', 1)
    await clock.advance(1)
    expect(await item.lookup('s')).toMatchObject({ outcome: 'hit', tier: 'memory', value: 1 })
  })
})

describe('loads of one key in one process', () => {
  it('are at most two: a third caller after two invalidations waits for the oldest', async () => {
    const { clock, here, there } = await race()
    const source = controlled<string>()
    const item = define<string>(here, () => source.load())
    const other = define<string>(there, () => source.load())
    const got = []
    for (let n = 0; n < 4; n++) {
      got.push(watch(item.get('k')))
      await clock.advance(1)
      await (n % 2 === 0 ? item : other).invalidate('k')
      await clock.advance(1)
    }
    expect(source.runs).toBe(2)
    const last = watch(item.get('k'))
    await clock.advance(1)
    source.end('1')
    await clock.advance(1)
    expect(source.runs).toBe(3)
    source.end('2')
    await clock.advance(1)
    source.end('3')
    await clock.advance(1)
    expect(got[0]!.value).toBe('1')
    expect(got[1]!.value).toBe('2')
    expect([got[2]!.value, got[3]!.value, last.value]).toEqual(['3', '3', '3'])
    expect(source.runs).toBe(3)
  })
})
