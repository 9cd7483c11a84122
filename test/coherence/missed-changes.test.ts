import { describe, expect, it } from 'vitest'
import { createCache } from '../../src/index.ts'
import { faultyStore, manualClock, memoryStore } from '../../src/testing/index.ts'
import { heldStore } from '../support/held-store.ts'
import { define, watch } from '../support/races.ts'
import { controlled } from '../support/two-processes.ts'

async function shaky(options: object = {}) {
  const clock = manualClock()
  const store = memoryStore()
  const held = heldStore(store)
  const link = faultyStore(held)
  const common = { namespace: 'test', ttl: '60s', clock, ...options } as const
  const here = createCache({ ...common, store: link })
  const there = createCache({ ...common, store })
  await clock.advance(10)
  return { clock, link, held, here, there, common }
}

describe('an invalidation in an outage', () => {
  it('that is asked for while earlier ones are being replayed is replayed too', async () => {
    const { clock, link, held, here, there } = await shaky()
    let version = 1
    const a = define<number>(here, () => version)
    const b = define<number>(there, () => version)
    expect(await b.get('k')).toBe(1)
    link.fail()
    for (let n = 0; n < 5; n++) await a.get(`x${n}`) // opens the breaker
    expect(here.health().store).toBe('down')
    version = 2
    await expect(a.invalidate('k')).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' })
    held.holdReplies('invalidate')
    link.heal()
    for (let n = 0; n < 300 && held.asked('invalidate') === 0; n++) await clock.advance(10)
    expect(held.asked('invalidate')).toBe(1) // done in the store, its reply on the way
    expect(await b.get('k')).toBe(2)
    version = 3
    await expect(a.invalidate('k')).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' })
    held.releaseReplies('invalidate')
    await clock.advance(5_000)
    expect(here.health().status).toBe('ok')
    expect(await b.get('k')).toBe(3)
  })

  it('T024 that overtakes a read which times out: what memory had covers no later caller', async () => {
    const { clock, held, here } = await shaky({ memory: { ttl: '2s' } })
    const options = { ttl: '1s', staleWhileRevalidate: '1h', staleIfError: '1h' }
    const source = controlled<string>()
    const a = define<string>(here, () => source.load(), options)
    const first = a.get('k')
    await clock.advance(1)
    source.end('old')
    await first
    await clock.advance(3_000) // stale, and memory is to ask the store
    held.holdReplies('read')
    const before = watch(a.get('k'))
    await clock.advance(10)
    await a.invalidate('k')
    await clock.advance(200) // the read has exceeded storeTimeout
    held.releaseReplies('read')
    await clock.advance(1)
    const late = watch(a.get('k'))
    await clock.advance(1)
    expect(source.runs).toBe(2)
    source.fail(new Error('down'))
    await clock.advance(1)
    expect(late.value).toBeUndefined()
    expect(late.error).toBeDefined()
    void before
  })
})

describe('a set that the store did not take', () => {
  it('is replayed as an invalidation, within 5 s, also when the store answers everything else', async () => {
    const { clock, link, here, there } = await shaky()
    const a = define<string>(here, () => 'source')
    const b = define<string>(there, () => 'source')
    await b.get('k')
    await b.set('k', 'old')
    link.fail()
    await expect(a.set('k', 'new')).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' })
    link.heal()
    expect(await a.get('k')).toBe('new') // applied here at once
    await clock.advance(5_000)
    expect(here.health().status).toBe('ok')
    expect(await b.get('k')).toBe('source')
  })
})
