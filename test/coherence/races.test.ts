import { describe, expect, it } from 'vitest'
import { controlled } from '../support/two-processes.ts'
import { define, race, watch } from '../support/races.ts'
import type { LoadContext } from '../../src/index.ts'

describe('an invalidation is never undone', () => {
  it('when the reply to it overtakes the message of the older publish (load vs invalidate)', async () => {
    const { clock, link, here, there } = await race()
    const old = controlled<string>()
    const fresh = controlled<string>()
    const a = define<string>(here, () => fresh.load())
    const b = define<string>(there, () => old.load())
    const holder = b.get('k')
    await clock.advance(1)
    const joined = watch(a.get('k')) // waits for b
    await clock.advance(1)
    link.holdBus()
    old.end('old')
    await holder
    await clock.advance(1)
    await a.invalidate('k') // confirmed, while the bus is behind
    const late = watch(a.get('k'))
    await clock.advance(1)
    link.releaseBus() // published(old), then invalidated
    await clock.advance(1)
    expect(late.value).not.toBe('old')
    fresh.end('fresh')
    await clock.advance(1)
    expect(late.value).toBe('fresh')
    expect(joined.value === 'old' || joined.value === 'fresh').toBe(true)
  })

  it('when the reply to a set overtakes the message of the older publish, without L1', async () => {
    const { clock, link, here, there } = await race()
    const old = controlled<string>()
    const a = define<string>(here, () => 'other', { memory: false })
    const b = define<string>(there, () => old.load(), { memory: false })
    const holder = b.get('k')
    await clock.advance(1)
    watch(a.get('k'))
    await clock.advance(1)
    link.holdBus()
    old.end('old')
    await holder
    await clock.advance(1)
    await a.set('k', 'set')
    const late = watch(a.get('k'))
    await clock.advance(1)
    link.releaseBus()
    await clock.advance(1)
    expect(late.value).toBe('set')
  })

  it('when the older load fails, and its failure comes after the reply to the invalidation', async () => {
    const { clock, link, here, there } = await race()
    const old = controlled<string>()
    const a = define<string>(here, () => 'fresh')
    const b = define<string>(there, () => old.load())
    const holder = watch(b.get('k'))
    await clock.advance(1)
    watch(a.get('k'))
    await clock.advance(1)
    link.holdBus()
    old.fail(new Error('old failure'))
    await clock.advance(1)
    expect(holder.error).toBeDefined()
    await a.invalidate('k')
    const late = watch(a.get('k'))
    await clock.advance(1)
    link.releaseBus()
    await clock.advance(1)
    expect(late).toEqual({ value: 'fresh' })
  })

  it('by a stale value that was given out early (softTimeout) before it came', async () => {
    const { clock, here, there } = await race()
    const options = { ttl: '1s', staleIfError: '1h', softTimeout: '50ms', waitTimeout: '20s' }
    const source = controlled<string>()
    const a = define<string>(here, () => source.load(), options)
    const b = define<string>(there, () => source.load(), options)
    const first = a.get('k')
    await clock.advance(1)
    source.end('old')
    await first
    await b.get('k')
    await clock.advance(2_000) // only inside staleIfError
    watch(b.get('k')) // holds the lease
    await clock.advance(1)
    const early = watch(a.get('k')) // waits; stale after 50 ms
    await clock.advance(60)
    expect(early.value).toBe('old')
    await b.invalidate('k')
    await clock.advance(1)
    const late = watch(a.get('k'))
    await clock.advance(1)
    expect(late.value).toBeUndefined()
    source.end('old too')
    await clock.advance(1)
    source.end('fresh')
    await clock.advance(1)
    expect(late.value).toBe('fresh')
  })

  it('T024 by a stale value that an overtaken look brought, when the next load fails', async () => {
    const { clock, link, here, there } = await race()
    const options = { ttl: '1s', staleWhileRevalidate: '1h', staleIfError: '1h', memory: false }
    const source = controlled<string>()
    const a = define<string>(here, () => source.load(), options)
    const b = define<string>(there, () => source.load(), options)
    const first = b.get('k')
    await clock.advance(1)
    source.end('old')
    await first
    await clock.advance(2_000)
    link.holdReplies('read')
    const before = watch(a.get('k')) // has read the stale frame, does not know yet
    await clock.advance(1)
    await b.invalidate('k')
    await clock.advance(1)
    link.releaseReplies('read')
    await clock.advance(1)
    expect(before.value === 'old' || before.value === undefined).toBe(true)
    const late = watch(a.get('k'))
    await clock.advance(1)
    source.fail(new Error('down'))
    await clock.advance(1)
    if (late.error === undefined && late.value === undefined && source.runs > 2) {
      source.fail(new Error('down'))
      await clock.advance(1)
    }
    expect(late.value).toBeUndefined()
    expect(late.error).toBeDefined()
  })

  it('T061 by `previous`, after a look that it overtook', async () => {
    const { clock, link, here, there } = await race()
    const options = { ttl: '1s', staleWhileRevalidate: '1h', memory: false }
    const previous: unknown[] = []
    let n = 0
    const load = (_: never, ctx: LoadContext): string => {
      previous.push(ctx.previous?.value)
      return `v${++n}`
    }
    const a = define<string>(here, load, options)
    const b = define<string>(there, load, options)
    await b.get('k')
    await clock.advance(2_000)
    link.holdReplies('read')
    watch(a.get('k'))
    await clock.advance(1)
    await b.invalidate('k')
    await clock.advance(1)
    link.releaseReplies('read')
    await clock.advance(1)
    await a.get('k')
    expect(previous.every((value) => value === undefined)).toBe(true)
  })

  it('T061 by `previous`, after a frame in the reply to ACQUIRE that it overtook', async () => {
    const { clock, link, here, there } = await race()
    const options = { ttl: '1s', staleIfError: '1h', memory: false, earlyRefresh: false }
    const previous: unknown[] = []
    const source = controlled<string>()
    const a = define<string>(
      here,
      (_: never, ctx: LoadContext) => {
        previous.push(ctx.previous?.value)
        return source.load()
      },
      options,
    )
    const b = define<string>(there, () => 'old', options)
    link.holdRequests('acquire')
    const asked = watch(a.get('k')) // nothing there; asks for the lease
    await clock.advance(1)
    await b.get('k')
    await clock.advance(1_500) // old, and only inside staleIfError
    link.holdReplies('acquire')
    link.releaseRequests('acquire')
    await clock.advance(1)
    await b.invalidate('k')
    await clock.advance(1)
    link.releaseReplies('acquire')
    await clock.advance(1)
    source.fail(new Error('down'))
    await clock.advance(1)
    expect(previous).toEqual([undefined])
    expect(asked.value).toBeUndefined()
  })

  it('by the failure of a load that began before it (errorTtl)', async () => {
    const { clock, here } = await race()
    const source = controlled<string>()
    const a = define<string>(here, () => source.load(), { errorTtl: '10s' })
    const before = watch(a.get('k'))
    await clock.advance(1)
    await a.invalidate('k')
    source.fail(new Error('of before'))
    await clock.advance(1)
    expect(before.error).toBeDefined()
    const late = watch(a.get('k'))
    await clock.advance(1)
    expect(late.error).toBeUndefined()
    expect(source.runs).toBe(2)
    source.end('fresh')
    await clock.advance(1)
    expect(late.value).toBe('fresh')
  })

  it('with one that the store did not take, while the store answers everything else', async () => {
    const { clock, here, there, store } = await race()
    const { faultyStore } = await import('../../src/testing/index.ts')
    const { createCache } = await import('../../src/index.ts')
    const link = faultyStore(store)
    const shaky = createCache({ namespace: 'test', ttl: '60s', clock, store: link })
    await clock.advance(10)
    let version = 'old'
    const a = define<string>(shaky, () => version)
    const b = define<string>(there, () => version)
    const c = define<string>(here, () => version)
    expect(await a.get('k')).toBe('old')
    expect(await b.get('k')).toBe('old')
    expect(await c.get('k')).toBe('old')
    version = 'new'
    link.fail()
    await expect(a.invalidate('k')).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' })
    link.heal()
    await clock.advance(5_000)
    expect(shaky.health().status).toBe('ok')
    expect([await a.get('k'), await b.get('k'), await c.get('k')]).toEqual(['new', 'new', 'new'])
  })

  it('in its own process, when the store did not take it', async () => {
    const { clock, there, store } = await race()
    const { faultyStore } = await import('../../src/testing/index.ts')
    const { createCache } = await import('../../src/index.ts')
    const link = faultyStore(store)
    const shaky = createCache({ namespace: 'test', ttl: '60s', clock, store: link })
    await clock.advance(10)
    let version = 'old'
    const a = define<string>(shaky, () => version)
    const b = define<string>(there, () => version)
    await b.get('k')
    expect(await a.get('k')).toBe('old')
    version = 'new'
    link.fail()
    await expect(a.invalidate('k')).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' })
    link.heal()
    expect(await a.get('k')).toBe('new')
  })
})

describe('a load after an invalidation', () => {
  it('is not held up for a lease when the message comes between ACQUIRE and its reply', async () => {
    const { clock, link, here, there } = await race()
    const source = controlled<string>()
    const a = define<string>(here, () => source.load())
    const b = define<string>(there, () => source.load())
    link.holdBus()
    await b.invalidate('k')
    await clock.advance(1)
    link.holdReplies('acquire')
    const got = watch(a.get('k')) // granted after the invalidation
    await clock.advance(1)
    link.releaseBus() // the news of before
    await clock.advance(1)
    link.releaseReplies('acquire')
    await clock.advance(10)
    expect(source.runs).toBe(1)
    source.end('value')
    await clock.advance(1)
    expect(got.value).toBe('value')
  })
})

describe('expire', () => {
  it('reaches what a waiting refresh knows: it is not served as fresh when the next load fails', async () => {
    const { clock, common, store, link } = await race()
    const { createCache } = await import('../../src/index.ts')
    const lively = { ...common, clock: { ...clock, random: () => 0.5 } }
    const [here, there] = [
      createCache({ ...lively, store: link }),
      createCache({ ...lively, store }),
    ]
    await clock.advance(10)
    const early = { beta: 1e9, maxLead: 0.5 }
    const options = { ttl: '60s', memory: false, jitter: 0, earlyRefresh: early }
    const source = controlled<string>()
    const a = define<string>(here, () => source.load(), options)
    const b = define<string>(there, () => source.load(), options)
    const first = b.get('k')
    await clock.advance(100)
    source.end('old')
    await first
    await clock.advance(40_000)
    expect(await b.get('k')).toBe('old') // b refreshes early
    await clock.advance(1)
    expect(await a.get('k')).toBe('old') // a's refresh waits for b's, the old value in hand
    await clock.advance(1)
    expect(source.runs).toBe(2)
    link.holdBus()
    await a.expire('k') // no window: the same as an invalidation
    link.releaseBus()
    const late = watch(a.get('k'))
    await clock.advance(1)
    source.fail(new Error('of before'))
    await clock.advance(5_000) // not longer than a lease
    expect(source.runs).toBe(3)
    source.fail(new Error('down'))
    await clock.advance(1)
    expect(late.value).toBeUndefined()
    expect(late.error).toBeDefined()
  })
})

describe('refresh and maxAge', () => {
  it('are not undone by a load that began before, in a cache without a store', async () => {
    const { clock, common } = await race()
    const { createCache } = await import('../../src/index.ts')
    const cache = createCache({ ...common, namespace: 'alone' })
    const runs: ((value: string) => void)[] = []
    const item = define<string>(cache, () => new Promise<string>((resolve) => runs.push(resolve)))
    const first = watch(item.get('k'))
    await clock.advance(10)
    const refreshed = watch(item.refresh('k'))
    await clock.advance(10)
    runs[1]!('new')
    await clock.advance(1)
    expect(refreshed.value).toBe('new')
    runs[0]!('old')
    await clock.advance(1)
    expect(first.value).toBe('old')
    expect(await item.get('k')).toBe('new')
  })
})
