// What handlers refuse, what they do while `next build` runs, and that they need nothing of Next.js.

import { mkdtempSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { createCache } from '../../src/index.ts'
import { buildIdOf, takesLifetime } from '../../src/next/build.ts'
import { ageing, freshMs, isUsable, type Kept } from '../../src/next/kept.ts'
import { nextCacheHandler, nextUseCacheHandler } from '../../src/next/index.ts'
import { page, pageOf } from './instances.ts'

describe('options', () => {
  const cache = createCache({ namespace: 'test', ttl: '1m' })
  const wrong = [
    { given: { cache, wiat: '1s' }, says: 'did you mean nextCacheHandler.wait?' },
    { given: { cache, wait: 0 }, says: 'nextCacheHandler.wait: expected a duration' },
    { given: { cache, keep: 'long' }, says: 'nextCacheHandler.keep: expected milliseconds' },
    { given: { cache, name: 'a b' }, says: 'nextCacheHandler.name: expected 1 to 64 characters' },
    { given: { cache, version: 7 }, says: 'nextCacheHandler.version: expected a text, or false' },
  ]
  it.each(wrong)('$says', ({ given, says }) => {
    expect(() => nextCacheHandler(given as never)).toThrow(says)
  })

  it('handlers that are given the same function share the cache that it makes once', async () => {
    const make = vi.fn(() => cache)
    const Handler = nextCacheHandler({ cache: make, name: 'shared' })
    const use = nextUseCacheHandler({ cache: make, name: 'shared-too' })
    expect(make).not.toHaveBeenCalled()
    await new Handler({}).revalidateTag('t')
    await use.updateTags(['t'])
    expect(make).toHaveBeenCalledTimes(1)
  })

  it('what is no cache is refused by the first request', () => {
    const Handler = nextCacheHandler({ cache: (() => ({})) as never })
    expect(() => new Handler({})).toThrow('nextCacheHandler.cache: expected a cache of createCache')
  })
})

describe('next build', () => {
  afterEach(() => vi.unstubAllEnvs())

  it('makes no cache, keeps data for the other pages, and no pages', async () => {
    vi.stubEnv('NEXT_PHASE', 'phase-production-build')
    const cache = vi.fn(() => {
      throw new Error('there is no Redis')
    })
    const Handler = nextCacheHandler({ cache })
    const handler = new Handler({})
    await handler.set('/p', pageOf('x'), page)
    expect(await handler.get('/p', page)).toBeNull()
    const data = { kind: 'FETCH', data: { body: 'x' }, revalidate: 60 }
    await handler.set('data', data, { fetchCache: true, tags: ['t'] })
    expect((await new Handler({}).get('data', { kind: 'FETCH' }))?.value).toEqual(data)
    await handler.revalidateTag('t')
    const use = nextUseCacheHandler({ cache })
    expect(await use.get('f', [])).toBeUndefined()
    await use.updateTags(['t'])
    expect(cache).not.toHaveBeenCalled()
  })

  it.each([
    { version: '15.5.29', expected: false },
    { version: '16.3.8', expected: false },
    { version: '16.4.0', expected: true },
    { version: '17.0.0-canary.1', expected: true },
  ])('is of Next.js $version, and takes lifetimes: $expected', ({ version, expected }) => {
    const root = mkdtempSync(join(tmpdir(), 'breakwater-next-'))
    const next = join(root, 'node_modules', 'next')
    mkdirSync(next, { recursive: true })
    writeFileSync(join(next, 'package.json'), JSON.stringify({ name: 'next', version }))
    expect(takesLifetime(join(root, '.next', 'server'))).toBe(expected)
    rmSync(root, { recursive: true })
  })

  it('is known by the id that it leaves', () => {
    const dist = mkdtempSync(join(tmpdir(), 'breakwater-next-'))
    mkdirSync(join(dist, 'server'))
    writeFileSync(join(dist, 'BUILD_ID'), 'abc\n')
    expect(buildIdOf(join(dist, 'server'))).toBe('abc')
    rmSync(dist, { recursive: true })
    expect(buildIdOf(join(dist, 'server'))).toBe('development')
    expect(buildIdOf(undefined)).toBe('development')
  })
})

describe('instants', () => {
  const at = 1_000_000
  const kept = (revalidate: number | false, expire?: number): Kept => ({
    value: null,
    at,
    revalidate,
    expire,
    tags: [],
  })

  it.each([
    { given: kept(60, 3_600), expected: 60_000 },
    { given: kept(60, 10), expected: 10_000 },
    { given: kept(false), expected: 1e9 },
    { given: kept(1e9, 1e9), expected: 1e9 },
    { given: kept(0), expected: 1 },
  ])('fresh for $expected ms', ({ given, expected }) => {
    expect(freshMs(given, 1e9)).toBe(expected)
  })

  it.each([
    { now: at + 59_999, expected: true },
    { now: at + 60_000, expected: false },
  ])('usable until its expire: $expected', ({ now, expected }) => {
    expect(isUsable(kept(1, 60), now)).toBe(expected)
    expect(isUsable(kept(1), now)).toBe(true)
  })

  const page = { isPage: true, asked: undefined, takesLifetime: true }
  const data = { isPage: false, asked: undefined, takesLifetime: true }
  const older = { ...page, takesLifetime: false }

  it.each([
    { standing: 'fresh', revalidate: 60, of: page, age: 59_999, told: 59_999 },
    { standing: 'fresh', revalidate: false, of: page, age: 1e9, told: 1e9 },
    { standing: 'fresh', revalidate: 60, of: data, age: 59_999, told: 0 },
    { standing: 'fresh', revalidate: 60, of: data, age: 60_000, told: 60_000 },
    { standing: 'fresh', revalidate: false, of: data, age: 1e9, told: 0 },
    { standing: 'covered', revalidate: 60, of: page, age: 90_000, told: 90_000 },
    { standing: 'stale', revalidate: 60, of: page, age: 90_000, told: 0 },
    { standing: 'stale', revalidate: 60, of: page, age: 5, told: 5 - 61_000 },
    { standing: 'stale', revalidate: 60, of: { ...data, asked: 9 }, age: 5, told: 5 - 10_000 },
    { standing: 'stale', revalidate: false, of: page, age: 5, told: 5 - 2_000 },
    { standing: 'stale', revalidate: 60, of: older, age: 5, told: 5 - 61_000 },
    { standing: 'stale', revalidate: false, of: older, age: 5, told: -at - 1 },
  ] as const)('$standing after $age ms of $revalidate s', ({ standing, revalidate, of, ...ms }) => {
    const asker = { ...of, now: at + ms.age }
    const { lastModified } = ageing(kept(revalidate), standing, asker)
    expect(lastModified - at).toBe(ms.told)
  })

  it('a page that another instance makes anew is soon asked for again', () => {
    const { revalidate } = ageing(kept(false), 'covered', { ...page, now: at })
    expect(revalidate).toBe(1)
  })
})
