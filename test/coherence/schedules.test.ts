// One schedule per race, step by step, in virtual time: two processes on one store.

import { describe, expect, it } from 'vitest'
import type { LoadContext } from '../../src/index.ts'
import { define, race, watch } from '../support/races.ts'
import { controlled } from '../support/two-processes.ts'

describe.each([
  { who: 'its own process', at: 'here' as const },
  { who: 'another process', at: 'there' as const },
])('a load in flight, and a change by $who', ({ at }) => {
  it('T061 load vs invalidate: the old value answers who had joined, and is stored nowhere', async () => {
    const { clock, here, there, ...rest } = await race()
    const source = controlled<string>()
    const mine = define<string>(here, () => source.load())
    const other = define<string>(there, () => source.load())
    const joined = watch(mine.get('k'))
    await clock.advance(1)
    await { here: mine, there: other }[at].invalidate('k')
    await clock.advance(1)
    const late = watch(mine.get('k'))
    await clock.advance(1)
    source.end('old')
    await clock.advance(1)
    expect(joined.value).toBe('old')
    expect(late.value).toBeUndefined()
    expect((await mine.peek('k')).state).toBe('missing')
    expect((await other.peek('k')).state).toBe('missing')
    source.end('new')
    await clock.advance(1)
    expect(late.value).toBe('new')
    expect([await mine.get('k'), await other.get('k')]).toEqual(['new', 'new'])
    expect(source.runs).toBe(2)
    expect(here.counters()['item']!.fenced).toBe(1)
    expect(rest.link.asked('publish')).toBe(2)
  })

  it('T061 load vs set: the set value stays', async () => {
    const { clock, here, there } = await race()
    const source = controlled<string>()
    const mine = define<string>(here, () => source.load())
    const other = define<string>(there, () => source.load())
    const joined = watch(mine.get('k'))
    await clock.advance(1)
    await { here: mine, there: other }[at].set('k', 'set')
    await clock.advance(1)
    expect(await mine.get('k')).toBe('set')
    source.end('old')
    await clock.advance(1)
    expect(joined.value).toBe('old')
    expect([await mine.get('k'), await other.get('k')]).toEqual(['set', 'set'])
    expect(source.runs).toBe(1)
  })

  it('T063 background refresh vs invalidate: what the refresh had read is not stored', async () => {
    const { clock, here, there } = await race()
    const options = { ttl: '1s', staleWhileRevalidate: '1h' }
    const source = controlled<string>()
    const mine = define<string>(here, () => source.load(), options)
    const other = define<string>(there, () => source.load(), options)
    const first = mine.get('k')
    await clock.advance(1)
    source.end('v1')
    await first
    await clock.advance(1_500)
    expect(await mine.get('k')).toBe('v1') // stale, refreshes
    await clock.advance(1)
    await { here: mine, there: other }[at].invalidate('k')
    await clock.advance(1)
    source.end('v2 of before')
    await clock.advance(1)
    expect((await mine.peek('k')).state).toBe('missing')
    expect((await other.peek('k')).state).toBe('missing')
    const late = watch(mine.get('k'))
    await clock.advance(1)
    source.end('v3')
    await clock.advance(1)
    expect(late.value).toBe('v3')
  })

  it('refresh() vs invalidate: its caller is answered, nothing is stored', async () => {
    const { clock, here, there } = await race()
    const source = controlled<string>()
    const mine = define<string>(here, () => source.load())
    const other = define<string>(there, () => source.load())
    const refreshed = watch(mine.refresh('k'))
    await clock.advance(1)
    await { here: mine, there: other }[at].invalidate('k')
    await clock.advance(1)
    source.end('old')
    await clock.advance(1)
    expect(refreshed.value).toBe('old')
    expect((await mine.peek('k')).state).toBe('missing')
    expect((await other.peek('k')).state).toBe('missing')
  })

  it('expire vs load: the load is not stored, and `previous` is kept', async () => {
    const { clock, here, there } = await race()
    const options = { ttl: '1s', staleIfError: '1h' }
    const previous: unknown[] = []
    const source = controlled<string>()
    const load = (_: never, ctx: LoadContext): Promise<string> => {
      previous.push(ctx.previous?.value)
      return source.load()
    }
    const mine = define<string>(here, load, options)
    const other = define<string>(there, load, options)
    const first = mine.get('k')
    await clock.advance(1)
    source.end('v1')
    await first
    await clock.advance(1_500)
    const joined = watch(mine.get('k'))
    await clock.advance(1)
    await { here: mine, there: other }[at].expire('k')
    await clock.advance(1)
    source.end('v2 of before')
    await clock.advance(1)
    expect(joined.value).toBe('v2 of before')
    expect(await mine.peek('k')).toMatchObject({ state: 'stale', value: 'v1' })
    watch(mine.get('k'))
    await clock.advance(1)
    expect(previous).toEqual([undefined, 'v1', 'v1'])
    source.end('v3')
    await clock.advance(1)
    expect([await mine.get('k'), await other.get('k')]).toEqual(['v3', 'v3'])
  })

  it('publish vs invalidate: a publish whose reply comes late fills no memory', async () => {
    const { clock, link, here, there } = await race()
    let version = 1
    const mine = define<number>(here, () => version)
    const other = define<number>(there, () => version)
    link.holdReplies('publish')
    expect(await mine.get('k')).toBe(1)
    version = 2
    await { here: mine, there: other }[at].invalidate('k')
    await clock.advance(1)
    link.releaseReplies('publish')
    await clock.advance(1)
    expect(await mine.get('k')).toBe(2)
    expect(await other.get('k')).toBe(2)
  })

  it('T061 an in-flight read vs invalidate: it fills no memory', async () => {
    const { clock, link, here, there } = await race()
    let version = 1
    const mine = define<number>(here, () => version)
    const other = define<number>(there, () => version)
    await other.get('k')
    link.holdReplies('read')
    const before = watch(mine.get('k')) // the store has answered with 1
    await clock.advance(1)
    version = 2
    await { here: mine, there: other }[at].invalidate('k')
    await clock.advance(1)
    link.releaseReplies('read')
    await clock.advance(1)
    expect(before.value).toBe(1)
    expect(await mine.get('k')).toBe(2)
  })

  it('an in-flight read vs set: later callers get what was set', async () => {
    const { clock, link, here, there } = await race()
    const mine = define<number>(here, () => 0)
    const other = define<number>(there, () => 1)
    await other.get('k')
    link.holdReplies('read')
    watch(mine.get('k'))
    await clock.advance(1)
    await { here: mine, there: other }[at].set('k', 2)
    await clock.advance(1)
    link.releaseReplies('read')
    await clock.advance(1)
    expect([await mine.get('k'), await other.get('k')]).toEqual([2, 2])
  })

  it('T058 a negative entry goes with a set, an invalidation and an expiry, everywhere', async () => {
    const { clock, here, there } = await race()
    let found: string | null = null
    const mine = define<string | null>(here, () => found)
    const other = define<string | null>(there, () => found)
    for (const how of ['invalidate', 'expire', 'set'] as const) {
      found = null
      expect([await mine.get(how), await other.get(how)]).toEqual([null, null])
      found = 'created'
      const { [at]: changer } = { here: mine, there: other }
      await (how === 'set' ? changer.set(how, found) : changer[how](how))
      await clock.advance(1)
      expect([await mine.get(how), await other.get(how)]).toEqual(['created', 'created'])
    }
  })
})
