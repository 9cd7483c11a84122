// Each caller's signal and timeout are its own (I8); the load ends when the last one has left.

import { describe, expect, it } from 'vitest'
import type { LoadContext } from '../../src/index.ts'
import { controlled, world } from '../support/two-processes.ts'
import { alone, watched } from '../support/watched.ts'

/** A loader that keeps the signals it was given. */
function signalled() {
  const loader = controlled<string>()
  const signals: AbortSignal[] = []
  return {
    loader,
    signals,
    load: (_id: string, ctx: LoadContext) => {
      signals.push(ctx.signal)
      return loader.load()
    },
  }
}

describe('a caller that gives up', () => {
  it('T006 rejects with its own reason, and who joined gets the value', async () => {
    const { clock, cache } = alone()
    const { loader, signals, load } = signalled()
    const item = cache.define({ name: 'item', load })
    const controller = new AbortController()
    const left = watched(item.get('a', { signal: controller.signal }))
    const stays = watched(item.get('a'))
    await clock.advance(1)
    const reason = new Error('the page was closed')
    controller.abort(reason)
    await clock.advance(1)
    expect(left).toEqual({ state: 'rejected', error: reason })
    expect(signals[0]!.aborted).toBe(false)
    loader.end('value')
    await clock.advance(0)
    expect(stays.value).toBe('value')
    expect(loader.runs).toBe(1)
  })

  it('T007 leaves the flight to the others: who comes then joins it', async () => {
    const { clock, cache } = alone()
    const { loader, load } = signalled()
    const item = cache.define({ name: 'item', load })
    const controllers = Array.from({ length: 10 }, () => new AbortController())
    const calls = controllers.map(({ signal }) => watched(item.get('a', { signal })))
    await clock.advance(1)
    controllers[3]!.abort()
    const late = Array.from({ length: 5 }, () => watched(item.get('a')))
    await clock.advance(1)
    loader.end('value')
    await clock.advance(0)
    expect(loader.runs).toBe(1)
    expect(calls.map(({ state }) => state).filter((state) => state === 'rejected')).toHaveLength(1)
    expect(calls.filter(({ value }) => value === 'value')).toHaveLength(9)
    expect(late.every(({ value }) => value === 'value')).toBe(true)
  })

  it('T012 does not lose the value for those who come later, when another had stayed', async () => {
    const { clock, cache } = alone()
    const { loader, load } = signalled()
    const item = cache.define({ name: 'item', load })
    const controller = new AbortController()
    void watched(item.get('a', { signal: controller.signal }))
    void watched(item.get('a'))
    await clock.advance(1)
    controller.abort()
    loader.end('value')
    await clock.advance(1)
    expect(await item.get('a')).toBe('value')
    expect(loader.runs).toBe(1)
  })

  it('T013 ends the load only as the last one, and who comes after that starts a new run', async () => {
    const { clock, cache } = alone()
    const { loader, signals, load } = signalled()
    const item = cache.define({ name: 'item', load })
    const controllers = [new AbortController(), new AbortController(), new AbortController()]
    for (const { signal } of controllers) void watched(item.get('a', { signal }))
    await clock.advance(1)
    controllers[0]!.abort()
    controllers[1]!.abort()
    expect(signals[0]!.aborted).toBe(false)
    controllers[2]!.abort()
    expect(signals[0]!.aborted).toBe(true)
    const next = watched(item.get('a'))
    await clock.advance(1)
    expect(loader.runs).toBe(2)
    expect(signals[1]!.aborted).toBe(false)
    loader.end('of the doomed run')
    loader.end('value')
    await clock.advance(1)
    expect(next.value).toBe('value')
    expect(await item.get('a')).toBe('value')
  })

  it('does not end a load for which somebody waits in another process', async () => {
    const { clock, process } = world()
    const { loader, signals, load } = signalled()
    const [one, two] = [await process(), await process()]
    const controller = new AbortController()
    const left = watched(one.define({ name: 'item', load }).get('a', { signal: controller.signal }))
    await clock.advance(10)
    const stays = watched(two.define({ name: 'item', load }).get('a'))
    await clock.advance(10)
    controller.abort()
    await clock.advance('10s')
    expect(left.state).toBe('rejected')
    expect(signals[0]!.aborted).toBe(false)
    loader.end('value')
    await clock.advance(0)
    expect(stays.value).toBe('value')
    expect(loader.runs).toBe(1)
  })

  it('ends the load when the last one has left in the other process too, and frees the key', async () => {
    const { clock, process } = world()
    const { loader, signals, load } = signalled()
    const [one, two] = [await process(), await process()]
    const [here, there] = [new AbortController(), new AbortController()]
    const a = one.define({ name: 'item', load })
    const b = two.define({ name: 'item', load })
    void watched(a.get('k', { signal: here.signal }))
    await clock.advance(10)
    void watched(b.get('k', { signal: there.signal }))
    await clock.advance(10)
    here.abort()
    await clock.advance(100)
    expect(signals[0]!.aborted).toBe(false)
    there.abort()
    await clock.advance('8s')
    expect(signals[0]!.aborted).toBe(true)
    void watched(b.get('k'))
    await clock.advance(10)
    expect(loader.runs).toBe(2)
  })

  it('ends at once a load for which nobody waits anywhere', async () => {
    const { clock, process } = world()
    const { loader, signals, load } = signalled()
    const [one, two] = [await process(), await process()]
    const controller = new AbortController()
    void watched(one.define({ name: 'item', load }).get('k', { signal: controller.signal }))
    await clock.advance(10)
    controller.abort()
    await clock.advance(1)
    expect(signals[0]!.aborted).toBe(true)
    void watched(two.define({ name: 'item', load }).get('k'))
    await clock.advance(10)
    expect(loader.runs).toBe(2)
  })

  it('is refused at once when its signal was aborted before, also on a hit', async () => {
    const { cache } = alone()
    const item = cache.define({ name: 'item', load: async (_id: string) => 'value' })
    await item.get('a')
    const signal = AbortSignal.abort('gone')
    await expect(item.get('a', { signal })).rejects.toBe('gone')
    await expect(item.refresh('a', { signal })).rejects.toBe('gone')
    expect(await item.get('a')).toBe('value')
  })

  it('leaves no listener on a signal that lives for long', async () => {
    const { clock, cache } = alone({ ttl: 1 })
    const item = cache.define({ name: 'item', load: async (_id: number) => 'value' })
    let listeners = 0
    const { signal } = new AbortController()
    const add = signal.addEventListener.bind(signal)
    const remove = signal.removeEventListener.bind(signal)
    signal.addEventListener = ((...args: Parameters<typeof add>) => {
      listeners++
      add(...args)
    }) as typeof add
    signal.removeEventListener = ((...args: Parameters<typeof remove>) => {
      listeners--
      remove(...args)
    }) as typeof remove
    for (let n = 0; n < 20; n++) await item.get(n, { signal, timeout: 50 })
    await clock.advance(100)
    expect(listeners).toBe(0)
  })
})

describe('a caller with a timeout', () => {
  it('gets WAIT_TIMEOUT with nothing stale, and the load goes on for the next', async () => {
    const { clock, cache } = alone()
    const { loader, signals, load } = signalled()
    const item = cache.define({ name: 'item', load })
    const call = watched(item.get('a', { timeout: 50 }))
    await clock.advance(49)
    expect(call.state).toBe('pending')
    await clock.advance(1)
    expect(call).toMatchObject({ state: 'rejected', error: { code: 'WAIT_TIMEOUT' } })
    expect(signals[0]!.aborted).toBe(false)
    loader.end('value')
    await clock.advance(0)
    expect(await item.get('a')).toBe('value')
    expect(loader.runs).toBe(1)
  })

  it('gets the stale value where one is allowed, and nobody else is changed', async () => {
    const { clock, cache } = alone({ staleIfError: '1h' })
    const { loader, load } = signalled()
    const item = cache.define({ name: 'item', load })
    void watched(item.get('a'))
    await clock.advance(0)
    loader.end('old')
    await clock.advance('11s')
    const hurried = watched(item.lookup('a', { timeout: 50 }))
    const patient = watched(item.get('a'))
    await clock.advance(50)
    expect(hurried.value).toMatchObject({ outcome: 'stale', value: 'old' })
    expect(patient.state).toBe('pending')
    loader.end('new')
    await clock.advance(0)
    expect(patient.value).toBe('new')
  })

  it('gets WAIT_TIMEOUT in time also while another process loads', async () => {
    const { clock, process } = world()
    const { load } = signalled()
    const [one, two] = [await process(), await process()]
    void watched(one.define({ name: 'item', load }).get('k'))
    await clock.advance(10)
    const call = watched(two.define({ name: 'item', load }).get('k', { timeout: 50 }))
    await clock.advance(50)
    expect(call).toMatchObject({ state: 'rejected', error: { code: 'WAIT_TIMEOUT' } })
  })
})
