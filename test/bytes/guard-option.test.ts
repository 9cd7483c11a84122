// The option `guard`, with guards under control: what they refuse is not loaded, and nothing else.

import { describe, expect, it, vi } from 'vitest'
import type { CacheEvents, CacheOptions, Guard } from '../../src/index.ts'
import { port, type GuardPort } from '../../src/ports.ts'
import { world } from '../support/two-processes.ts'

interface Controlled extends GuardPort<string> {
  readonly ids: Set<string>
  asked: number
}

/** Answers at once (`knows`), or when asked. */
function guardOf(ids: string[], how: 'knows' | 'is asked'): Controlled {
  const guard: Controlled = {
    [port]: 'guard',
    ids: new Set(ids),
    asked: 0,
    add: async (id) => void guard.ids.add(id),
    addMany: async () => {},
    rebuild: async () => {},
    know: (id) => (how === 'knows' ? guard.ids.has(id) : undefined),
    ask: async (id) => {
      guard.asked++
      return guard.ids.has(id)
    },
  }
  return guard
}

async function shop(guard: Guard<string>, options: Partial<CacheOptions> = {}) {
  const { clock, process } = world()
  const cache = await process(options)
  const other = await process()
  const load = vi.fn(async (id: string): Promise<string | undefined> => `product ${id}`)
  const loadMany = vi.fn(async (ids: readonly string[]) => ids.map((id) => `product ${id}`))
  const outcomes: CacheEvents['answer']['outcome'][] = []
  cache.on('answer', ({ outcome }) => outcomes.push(outcome))
  return {
    clock,
    cache,
    load,
    loadMany,
    outcomes,
    product: cache.define({ name: 'product', load, loadMany, guard }),
    elsewhere: other.define({ name: 'product', load }),
  }
}

describe.each(['knows', 'is asked'] as const)('a guard that %s', (how) => {
  it('refuses what cannot exist: undefined, and nothing is loaded', async () => {
    const { product, load, outcomes, cache } = await shop(guardOf(['a'], how))
    expect(await product.get('x')).toBeUndefined()
    expect(await product.lookup('x')).toEqual({ outcome: 'refused', value: undefined })
    expect(await product.get('x', { timeout: '1s' })).toBeUndefined()
    expect(load).not.toHaveBeenCalled()
    expect(outcomes).toEqual(['refused', 'refused', 'refused'])
    expect(cache.counters()['product']).toMatchObject({ refused: 3, loads: 0, failed: 0 })
  })

  it('lets through what may exist', async () => {
    const { product, load } = await shop(guardOf(['a'], how))
    expect(await product.get('a')).toBe('product a')
    expect(await product.get('a')).toBe('product a')
    expect(load).toHaveBeenCalledTimes(1)
  })

  it('refuses at its places of a batch, and only there', async () => {
    const { product, loadMany } = await shop(guardOf(['a', 'b'], how))
    expect(await product.getMany(['a', 'x', 'b', 'x'])).toEqual([
      'product a',
      undefined,
      'product b',
      undefined,
    ])
    expect(loadMany.mock.calls.map(([ids]) => ids)).toEqual([['a', 'b']])
    expect(await product.getManySettled(['x'])).toEqual([{ status: 'fulfilled', value: undefined }])
  })

  it('is not in the way of refresh, which shows that it was wrong', async () => {
    const guard = guardOf([], how)
    const { product } = await shop(guard)
    expect(await product.refresh('new')).toBe('product new')
    if (how === 'knows') expect(guard.ids).toContain('new')
    expect(await product.get('new')).toBe('product new')
  })

  it('is told by set of what exists, before anybody can be refused it', async () => {
    const guard = guardOf(['a'], how)
    const { product } = await shop(guard, { memory: false })
    await product.set('new', 'product new')
    expect(guard.ids).toContain('new')
    expect(await product.get('new')).toBe('product new')
    await product.set('none', undefined)
    expect(guard.ids).not.toContain('none')
  })

  it('does not refuse what is stale, but may still be shown', async () => {
    const guard = guardOf(['a'], how)
    const { product, clock, load } = await shop(guard, { staleWhileRevalidate: '1h' })
    await product.get('a')
    guard.ids.clear()
    await clock.advance('90s')
    expect(await product.get('a')).toBe('product a')
    await clock.advance('1s')
    expect(load).toHaveBeenCalledTimes(2)
  })

  it('still holds when the cache goes around what is kept', async () => {
    const { product, load } = await shop(guardOf(['a'], how), { mode: 'bypass' })
    expect(await product.get('x')).toBeUndefined()
    expect(await product.get('a')).toBe('product a')
    expect(load).toHaveBeenCalledTimes(1)
  })
})

it('a guard that knows costs no look in the store for what it refuses', async () => {
  const guard = guardOf([], 'knows')
  const { product, elsewhere, load } = await shop(guard)
  await elsewhere.get('a')
  expect(await product.get('a')).toBeUndefined()
  expect(load).toHaveBeenCalledTimes(1)
})

it('a guard is not asked about what the store has, nor about what is being loaded', async () => {
  const guard = guardOf(['b'], 'is asked')
  const { product, elsewhere } = await shop(guard)
  await elsewhere.get('a')
  expect(await product.get('a')).toBe('product a')
  expect(guard.asked).toBe(0)
  await Promise.all([product.get('b'), product.get('b')])
  expect(guard.asked).toBeLessThanOrEqual(2)
})

it('a caller does not wait for a guard longer than for anything else', async () => {
  const guard = { ...guardOf([], 'is asked'), ask: () => new Promise<boolean>(() => {}) }
  const { product, clock } = await shop(guard)
  const stopped = new AbortController()
  const asked = product.get('x', { signal: stopped.signal }).catch((error: unknown) => error)
  const bounded = product.get('x', { timeout: 50 }).catch((error: unknown) => error)
  await clock.advance('1s')
  stopped.abort(new Error('left'))
  expect(await asked).toMatchObject({ message: 'left' })
  expect(await bounded).toMatchObject({ code: 'WAIT_TIMEOUT' })
})

it('a flood of what does not exist reaches the source once for each that the guard takes for real', async () => {
  // One in fifty is a false positive.
  const guard = { ...guardOf([], 'knows'), know: (id: string) => Number(id) % 50 === 0 }
  const { product, load } = await shop(guard)
  load.mockResolvedValue(undefined)
  for (let round = 0; round < 2; round++) {
    await Promise.all(Array.from({ length: 2_000 }, (_, n) => product.get(String(n))))
  }
  expect(load).toHaveBeenCalledTimes(40)
})
