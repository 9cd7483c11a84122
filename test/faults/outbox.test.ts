// What the store did not take is not lost: it was applied here, its caller was told, and it is
// repeated before the store is believed again. In virtual time.

import { describe, expect, it } from 'vitest'
import { createCache, type CacheOptions } from '../../src/index.ts'
import { faultyStore } from '../../src/testing/index.ts'
import { spyStore } from '../support/spy-store.ts'
import { world } from '../support/two-processes.ts'

const unavailable = { code: 'STORE_UNAVAILABLE' }

/** Two processes that both know the first version; only A's way to the store can break. */
async function twoThatKnow(options: Partial<CacheOptions> = {}) {
  const { clock, store, process } = world()
  const link = faultyStore(store)
  const spy = spyStore(link)
  const a = createCache({ namespace: 'test', ttl: '60s', clock, store: spy.store, ...options })
  const b = await process(options)
  await clock.advance(10)
  const source = { version: 1, runs: 0 }
  const load = async (_id: string) => {
    source.runs++
    return source.version
  }
  const inA = a.define({ name: 'item', load })
  const inB = b.define({ name: 'item', load })
  const both = async (): Promise<readonly number[]> => {
    const answers = Promise.all([inA.get('k'), inB.get('k')])
    await clock.advance(5)
    return answers
  }
  expect(await both()).toEqual([1, 1])
  return { clock, link, spy, a, b, inA, inB, source, both }
}

describe('what the store did not take', () => {
  it('T099 an invalidation in an outage rejects, and is replayed before the store is believed', async () => {
    const { clock, link, a, inA, source, both } = await twoThatKnow()
    link.hang()
    const first = inA.invalidate('k').catch((error: unknown) => error)
    await clock.advance(150)
    expect(await first).toMatchObject(unavailable)
    expect(a.health()).toMatchObject({ status: 'degraded', store: 'down' })
    source.version = 2
    const meanwhile = inA.get('k')
    await clock.advance(5)
    expect(await meanwhile).toBe(2)
    link.heal()
    await clock.advance(5_000)
    expect(a.health()).toMatchObject({ status: 'ok', store: 'up', bus: 'up' })
    expect(await both()).toEqual([2, 2])
  })

  it('T099 an invalidation that is refused at once while the breaker is open is replayed too', async () => {
    const { clock, link, a, inA, source, both } = await twoThatKnow()
    link.hang()
    const meanwhile = inA.invalidate('other').catch(() => {})
    await clock.advance(150)
    await meanwhile
    source.version = 2
    await expect(inA.invalidate('k')).rejects.toMatchObject(unavailable)
    await clock.advance(60_000)
    link.heal()
    await clock.advance(5_000)
    expect(a.health().status).toBe('ok')
    expect(await both()).toEqual([2, 2])
  })

  it('T099 is sent once more by close(), also when nobody has found out yet that the store is back', async () => {
    const { clock, link, a, inA, inB, source } = await twoThatKnow({ memory: false })
    link.fail()
    const changed = inA.invalidate('k').catch((error: unknown) => error)
    const byTag = a.clear().catch((error: unknown) => error)
    await clock.advance(150)
    expect(await changed).toMatchObject(unavailable)
    expect(await byTag).toMatchObject(unavailable)
    await clock.advance('30s')
    source.version = 2
    link.heal()
    // A load that never ends must not keep it from being sent.
    const caller = a.getOrLoad('hangs', () => new Promise(() => {})).catch(() => {})
    const closing = a.close({ timeout: 50 })
    await clock.advance(300)
    await Promise.all([closing, caller])
    const read = inB.get('k')
    await clock.advance(10)
    expect(await read).toBe(2)
  })

  it('T099 a set in an outage applies here, and elsewhere becomes an invalidation, never a value', async () => {
    const { clock, link, inA, inB, source, both } = await twoThatKnow()
    link.hang()
    const refused = inA.set('k', 2).catch((error: unknown) => error)
    await clock.advance(150)
    expect(await refused).toMatchObject(unavailable)
    expect(await inA.get('k')).toBe(2)
    // Meanwhile B, whose store works, writes a newer one.
    const newer = inB.set('k', 3)
    await clock.advance(1)
    await newer
    source.version = 3
    link.heal()
    await clock.advance(5_000)
    expect(await both()).toEqual([3, 3])
  })
})
