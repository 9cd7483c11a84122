// After an outage the store is asked again; and a set fences a refresh that runs elsewhere.

import { describe, expect, it } from 'vitest'
import { createCache } from '../../src/index.ts'
import { faultyStore, manualClock, memoryStore } from '../../src/testing/index.ts'
import { define, race, watch } from '../support/races.ts'
import { controlled } from '../support/two-processes.ts'

async function shaky(options: object = {}) {
  const clock = manualClock()
  const store = memoryStore()
  const link = faultyStore(store)
  const common = { namespace: 'test', ttl: '60s', clock, ...options } as const
  const here = createCache({ ...common, store: link })
  const there = createCache({ ...common, store })
  await clock.advance(10)
  return { clock, link, here, there }
}

describe('an outage', () => {
  it('what was kept provisionally is looked up again on recovery', async () => {
    const { clock, link, here, there } = await shaky({ outageTtl: '30s' })
    const a = define<string>(here, () => 'outage')
    const b = define<string>(there, () => 'store')
    expect(await b.get('k')).toBe('store')
    link.fail()
    for (let n = 0; n < 5; n++) await a.get(`x${n}`)
    expect(here.health().store).toBe('down')
    expect(await a.get('k')).toBe('outage')
    link.heal()
    await clock.advance(1_500)
    expect(here.health().store).toBe('up')
    expect(await a.get('k')).toBe('store')
  })
})

describe('two processes', () => {
  it('set in one fences a refresh() that runs in the other', async () => {
    const { clock, here, there } = await race()
    const source = controlled<string>()
    const a = define<string>(here, () => source.load())
    const b = define<string>(there, () => source.load())
    const refreshed = watch(a.refresh('k'))
    await clock.advance(1)
    await b.set('k', 'set')
    await clock.advance(1)
    source.end('old')
    await clock.advance(1)
    expect(refreshed.value).toBe('old')
    expect([await a.get('k'), await b.get('k')]).toEqual(['set', 'set'])
  })
})
