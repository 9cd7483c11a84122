// What a request gets that finds nothing: it loads, it waits, or it is given a placeholder.

import { describe, expect, it, test } from 'vitest'
import { aheadRig } from '../support/ahead-rig.ts'
import { watched } from '../support/watched.ts'

const placeholder = (id: string) => ({ id, n: 0 })

describe('placeholder', () => {
  const onMiss = { onMiss: 'placeholder', placeholder } as const

  it('is answered at once, counted, and told by outcome; the value comes by itself', async () => {
    const { process, run, loads } = aheadRig()
    const { item, cache } = process(onMiss)
    const outcomes: string[] = []
    cache.on('answer', ({ outcome }) => outcomes.push(outcome))
    expect(await item.lookup('a')).toEqual({ outcome: 'placeholder', value: { id: 'a', n: 0 } })
    expect(await item.get('b')).toEqual({ id: 'b', n: 0 })
    await run(100)
    expect((await item.lookup('a')).outcome).toBe('hit')
    expect(outcomes).toEqual(['placeholder', 'placeholder', 'hit'])
    expect(cache.counters()['item']).toMatchObject({ placeholder: 2, loadsScheduled: 2, loaded: 0 })
    expect(loads.map(({ reason }) => reason)).toEqual(['scheduled', 'scheduled'])
  })

  it('of many callers makes one load', async () => {
    const { process, run, of } = aheadRig()
    const { item } = process(onMiss)
    await Promise.all(Array.from({ length: 1_000 }, async () => item.get('a')))
    await run(1_000)
    expect(of('a')).toHaveLength(1)
  })

  it('is given for an argument that is not in the list, which is then made, once', async () => {
    const { process, run, of } = aheadRig()
    const { item } = process(onMiss)
    expect((await item.lookup('other')).outcome).toBe('placeholder')
    await run(100)
    expect((await item.lookup('other')).outcome).toBe('hit')
    await run(170_000)
    expect(of('other')).toHaveLength(1)
  })

  it('is given while the source fails, too, and never an error', async () => {
    const { process, run, source } = aheadRig()
    const { item } = process(onMiss)
    source.fails = new Error('down')
    for (let n = 0; n < 20; n++) {
      expect((await item.lookup('a')).outcome).toBe('placeholder')
      await run(1_000)
    }
    source.fails = undefined
    await run(60_000)
    expect((await item.lookup('a')).outcome).toBe('hit')
  })

  it('that throws rejects with what it threw, and is told', async () => {
    const { process } = aheadRig()
    const { item, cache } = process({
      onMiss: 'placeholder',
      placeholder: () => {
        throw new Error('mine')
      },
    })
    const told: string[] = []
    cache.on('callbackFailed', ({ callback }) => told.push(callback))
    await expect(item.get('a')).rejects.toThrow('mine')
    expect(told).toEqual(['placeholder'])
  })

  it('comes after a stale value that may be served', async () => {
    const { process, run, source } = aheadRig()
    const { item } = process(onMiss, {}, { ttl: '2m', staleIfError: '10m' })
    await run(1_000)
    source.fails = new Error('down')
    await run(200_000)
    const answer = await item.lookup('a')
    expect(answer.outcome).toBe('stale')
    expect(answer.value.n).toBe(1)
  })

  it('fills the places of getMany', async () => {
    const { process, run, loads } = aheadRig()
    const { item } = process(onMiss)
    await run(1_000)
    expect(await item.getMany(['a', 'x', 'b'])).toMatchObject([
      { id: 'a', n: 1 },
      { n: 0 },
      { id: 'b' },
    ])
    expect(loads.every(({ reason }) => reason === 'scheduled')).toBe(true)
  })
})

describe('wait', () => {
  it('waits for the background, whose load it is', async () => {
    const { process, run, loads } = aheadRig()
    const { item, cache } = process({})
    const got = watched(item.lookup('a'))
    await run(1_000)
    expect(got.value).toMatchObject({ outcome: 'waited', value: { id: 'a' } })
    expect(loads[0]!.reason).toBe('scheduled')
    expect(cache.counters()['item']).toMatchObject({ waited: 1, loaded: 0, loadsScheduled: 2 })
  })

  it('waits up to waitTimeout, and is told so', async () => {
    const { process, run, source } = aheadRig()
    const { item } = process({}, { waitTimeout: '2s' })
    source.ms = 20_000
    const got = watched(item.get('a'))
    const impatient = watched(item.get('a', { timeout: 500 }))
    const controller = new AbortController()
    const left = watched(item.get('a', { signal: controller.signal }))
    await run(400)
    controller.abort(new Error('left'))
    await run(200)
    expect(left.error).toMatchObject({ message: 'left' })
    expect(impatient.error).toMatchObject({ code: 'WAIT_TIMEOUT' })
    expect(got.state).toBe('pending')
    await run(21_000)
    // It has begun here: its result is worth waiting for, as that of any load.
    expect(got.state).toBe('resolved')
  })

  it('in a process that takes no part asks the others, over the bus', async () => {
    const { process, run, loads } = aheadRig()
    const worker = process({ args: ['a'] }, { precompute: true })
    await run(1_000)
    const { item } = process({ args: ['a'] }, { precompute: false })
    await worker.item.invalidate('a')
    const got = watched(item.lookup('a'))
    await run(200)
    expect(got.value?.value.id).toBe('a')
    expect(loads.every((load) => load.process === worker.number)).toBe(true)
  })

  it('in a process that takes no part, with nobody there, ends with waitTimeout', async () => {
    const { process, run, loads } = aheadRig()
    const { item } = process({}, { precompute: false, waitTimeout: '2s' })
    const got = watched(item.get('a'))
    await run(2_500)
    expect(got.error).toMatchObject({ code: 'WAIT_TIMEOUT' })
    expect(loads).toEqual([])
  })

  it('is told of a failure at once, as everyone who waits for that load', async () => {
    const { process, run, source } = aheadRig()
    const { item } = process({})
    source.fails = new Error('down')
    const got = watched(item.get('a'))
    await run(100)
    expect(got.error).toBe(source.fails)
    // And until it is tried again.
    const next = watched(item.get('a'))
    await run(1)
    expect(next.error).toBe(source.fails)
  })

  it('gets the fallback where there is one', async () => {
    const { process, run, source } = aheadRig()
    const { item } = process({}, {}, { fallback: () => ({ id: 'fallback', n: 0 }) })
    source.fails = new Error('down')
    const got = watched(item.lookup('a'))
    await run(100)
    expect(got.value).toMatchObject({ outcome: 'fallback' })
  })

  it('is released by close()', async () => {
    const { process, run } = aheadRig()
    const { item, cache } = process({}, { precompute: false })
    const got = watched(item.get('a'))
    await run(100)
    const closing = cache.close({ timeout: '1s' })
    await run(2_000)
    await closing
    expect(got.error).toMatchObject({ code: 'CLOSED' })
  })
})

describe('load', () => {
  it('is what any definition does, and the background makes no second of it', async () => {
    const { process, run, of } = aheadRig()
    const { item } = process({ onMiss: 'load' })
    const got = watched(item.lookup('a'))
    await run(100)
    expect(got.value).toMatchObject({ outcome: 'loaded' })
    expect(of('a').map(({ reason }) => reason)).toEqual(['miss'])
  })
})

test('refresh() is an explicit wish, and is done', async () => {
  const { process, run, of } = aheadRig()
  const { item } = process({}, { precompute: false })
  const got = watched(item.refresh('a'))
  await run(100)
  expect(got.state).toBe('resolved')
  expect(of('a').map(({ reason }) => reason)).toEqual(['forced'])
})

test('what does not exist is kept until the next refresh, and is no miss', async () => {
  const { process, run, source, of } = aheadRig()
  const { item } = process({ args: ['a'] }, { negativeTtl: '1s' })
  source.answer = () => null
  await run(1_000)
  for (let n = 0; n < 10; n++) {
    await run(6_000)
    expect(await item.lookup('a')).toMatchObject({ outcome: 'hit', value: null })
  }
  expect(of('a').length).toBeLessThanOrEqual(2)
})

test('with enabled: false nothing is made ahead, and requests load', async () => {
  const { process, run, loads } = aheadRig()
  const { item } = process({ onMiss: 'placeholder', placeholder }, { enabled: false })
  const got = watched(item.lookup('a'))
  await run(60_000)
  expect(got.value).toMatchObject({ outcome: 'loaded' })
  expect(loads).toHaveLength(1)
})

describe('modes', () => {
  it("'no-refresh': nothing is made; 'normal' again: it goes on, and nothing has piled up", async () => {
    const { process, run, loads } = aheadRig()
    const { item } = process({})
    await run(1_000)
    item.switchTo('no-refresh')
    const at = loads.length
    await run(170_000)
    expect(loads.length).toBe(at)
    item.switchTo(undefined)
    await run(60_000)
    expect(loads.length).toBeGreaterThanOrEqual(at + 2)
    expect(loads.length).toBeLessThanOrEqual(at + 4)
  })

  it("'bypass': requests go to the source", async () => {
    const { process, run } = aheadRig()
    const { item } = process({ onMiss: 'placeholder', placeholder })
    item.switchTo('bypass')
    const got = watched(item.lookup('a'))
    await run(100)
    expect(got.value).toMatchObject({ outcome: 'loaded' })
  })

  it("'stale-only': a wait is refused at once", async () => {
    const { process, run } = aheadRig()
    const { item } = process({})
    item.switchTo('stale-only')
    const got = watched(item.get('a'))
    await run(1)
    expect(got.error).toMatchObject({ code: 'OVERLOADED' })
  })
})

describe('values that are not to be kept', () => {
  it('noStore: those who wait get it, and no load follows another', async () => {
    const { clock } = aheadRig()
    const { createCache } = await import('../../src/index.ts')
    const { memoryStore } = await import('../../src/testing/index.ts')
    const cache = createCache({ namespace: 'test', ttl: '3m', clock, store: memoryStore() })
    let loads = 0
    const item = cache.define({
      name: 'item',
      load: async (id: string, ctx) => {
        loads++
        ctx.noStore()
        return { id }
      },
      precompute: { every: '60s', args: ['a'], onMiss: 'wait' },
    })
    const got = watched(item.get('a'))
    await clock.advance(1_000)
    expect(got.value).toEqual({ id: 'a' })
    for (let n = 0; n < 10; n++) {
      watched(item.get('a', { timeout: 100 }))
      await clock.advance(200)
    }
    expect(loads).toBeLessThanOrEqual(2)
  })
})
