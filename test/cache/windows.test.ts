// Stale windows of a single entry: a loader narrows what its definition allows, and never widens it.

import { describe, expect, it } from 'vitest'
import type { LoadContext } from '../../src/index.ts'
import { alone } from '../support/watched.ts'

const made = (windows: Parameters<LoadContext['windows']>[0]) => {
  const { clock, cache } = alone({ ttl: '10s', jitter: 0, earlyRefresh: false })
  let run = 0
  const item = cache.define({
    name: 'item',
    staleWhileRevalidate: '20s',
    staleIfError: '60s',
    load: async (_id: string, ctx: LoadContext) => {
      ctx.windows(windows)
      if (++run > 1) throw new Error('down')
      return run
    },
  })
  return { clock, item }
}

describe('the windows of one entry', () => {
  it.each([
    { given: {}, whileRevalidate: 20_000, ifError: 60_000 },
    { given: { staleWhileRevalidate: '5s' }, whileRevalidate: 5_000, ifError: 60_000 },
    {
      given: { staleWhileRevalidate: 0, staleIfError: '30s' },
      whileRevalidate: 0,
      ifError: 30_000,
    },
    { given: { staleWhileRevalidate: 0, staleIfError: 0 }, whileRevalidate: 0, ifError: 0 },
    {
      given: { staleWhileRevalidate: '1h', staleIfError: '1d' },
      whileRevalidate: 20_000,
      ifError: 60_000,
    },
  ] as const)('$given end where they say, within the definition’s', async (row) => {
    const { clock, item } = made(row.given)
    await item.get('a')
    await clock.advance(10_000 + Math.max(0, row.whileRevalidate - 1))
    if (row.whileRevalidate > 0) {
      expect(await item.lookup('a')).toMatchObject({ outcome: 'stale', value: 1 })
    }
    await clock.advance(Math.max(0, row.ifError - Math.max(0, row.whileRevalidate - 1) - 1))
    if (row.ifError > 0) expect(await item.get('a')).toBe(1)
    await clock.advance(1)
    await expect(item.get('a')).rejects.toThrow('down')
  })

  it.each([
    { staleWhileRevalidate: -1 },
    { staleIfError: Number.NaN },
    { stale: '1s' },
    5,
  ] as never[])('%o is refused', async (windows) => {
    const { item } = made(windows)
    await expect(item.get('a')).rejects.toMatchObject({ code: 'INVALID_OPTION' })
  })
})
