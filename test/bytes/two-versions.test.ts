// Two versions of the library on one Redis, in both directions (T115): the one that is built here,
// and a next one, which is this one with another number in its frames and its scripts.

import { createHash } from 'node:crypto'
import { cp, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { Redis } from 'ioredis'
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import type * as library from '../../src/index.ts'
import type * as adapter from '../../src/redis/ioredis.ts'
import type { ScriptSource } from '../../src/redis/scripts.generated.ts'
import { ownServer } from '../support/own-server.ts'
import { well } from '../support/well.ts'

interface Version {
  readonly createCache: typeof library.createCache
  readonly redisStore: typeof adapter.redisStore
}

const root = fileURLToPath(new URL('../..', import.meta.url))

async function load(dist: string): Promise<Version> {
  const at = (file: string): string => pathToFileURL(join(dist, file)).href
  const { createCache } = (await import(at('index.js'))) as typeof library
  const { redisStore } = (await import(at('redis/ioredis.js'))) as typeof adapter
  return { createCache, redisStore }
}

/** Of this build, with a 2 where it has a 1. */
async function nextVersion(folder: string): Promise<string> {
  const dist = join(folder, 'dist')
  await cp(join(root, 'dist'), dist, { recursive: true })
  await symlink(join(root, 'node_modules'), join(folder, 'node_modules'))
  await writeFile(join(folder, 'package.json'), '{"type":"module"}')
  const frame = join(dist, 'core', 'frame.js')
  const text = await readFile(frame, 'utf8')
  expect(text).toContain('version: 1,')
  await writeFile(frame, text.replace('version: 1,', 'version: 2,'))
  const generated = join(dist, 'redis', 'scripts.generated.js')
  const { scripts } = (await import(
    pathToFileURL(join(root, 'dist/redis/scripts.generated.js')).href
  )) as {
    scripts: Record<string, ScriptSource>
  }
  const next = Object.entries(scripts).map(([name, script]) => {
    const source = script.source
      .replaceAll("'bw\\001'", "'bw\\002'")
      .replaceAll(
        "'bw' and (string.byte(top, 3) or 0) > 1",
        "'bw' and (string.byte(top, 3) or 0) > 2",
      )
    return [name, { ...script, source, sha1: createHash('sha1').update(source).digest('hex') }]
  })
  await writeFile(generated, `export const scripts = ${JSON.stringify(Object.fromEntries(next))}`)
  return dist
}

const redis = ownServer()
let folder: string
const versions = {} as Record<'this' | 'next', Version>
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'breakwater-next-'))
  versions.this = await load(join(root, 'dist'))
  versions.next = await load(await nextVersion(folder))
})
afterAll(async () => {
  await rm(folder, { recursive: true })
})

const ends: (() => Promise<void>)[] = []
afterEach(async () => {
  await Promise.all(ends.splice(0).map((end) => end()))
  await redis.admin.flushall()
})

async function process(version: keyof typeof versions) {
  const client = new Redis({ port: redis.port })
  const { createCache, redisStore } = versions[version]
  const cache = createCache({
    namespace: 'mixed',
    ttl: '60s',
    staleWhileRevalidate: '60s',
    store: redisStore({ client }),
    memory: false,
  })
  const unread: string[] = []
  cache.on('unreadable', ({ why }) => unread.push(why))
  await well(cache)
  const loader = vi.fn(async (id: string) => `${id} of the ${version} version`)
  ends.push(async () => {
    await cache.close({ timeout: 500 })
    client.disconnect()
  })
  return { cache, unread, load: loader, item: cache.define({ name: 'item', load: loader }) }
}

describe('two versions on one Redis', () => {
  it('T115 the older one reads nothing of the newer one, and leaves it where it is', async () => {
    const [older, newer] = [await process('this'), await process('next')]
    await newer.item.get('a')
    await newer.cache.idle()
    for (let n = 0; n < 3; n++) expect(await older.item.get('a')).toBe('a of the this version')
    await older.cache.idle()
    expect(older.unread).toContain('newer')
    expect(await newer.item.get('a')).toBe('a of the next version')
    expect(newer.load).toHaveBeenCalledTimes(1)
    expect(newer.unread).toEqual([])
  })

  it('T115 the newer one replaces what the older one has left, once', async () => {
    const [older, newer] = [await process('this'), await process('next')]
    await older.item.get('a')
    await older.cache.idle()
    for (let n = 0; n < 3; n++) expect(await newer.item.get('a')).toBe('a of the next version')
    expect(newer.unread).toEqual(['older'])
    expect(newer.load).toHaveBeenCalledTimes(1)
  })

  it.each([
    ['this', 'next'],
    ['next', 'this'],
  ] as const)('an invalidation by the %s version reaches the %s one', async (one, two) => {
    const [changes, holds] = [await process(one), await process(two)]
    await holds.item.get('a')
    await holds.cache.idle()
    await changes.item.invalidate('a')
    await holds.item.get('a')
    expect(holds.load).toHaveBeenCalledTimes(2)
    await holds.cache.idle()
    await changes.item.set('a', 'written')
    expect(await holds.item.get('a')).not.toBe('a of before')
    expect(holds.load.mock.calls.length).toBeGreaterThanOrEqual(2)
  })

  it('share their leases: of both, one loads at a time', async () => {
    const [older, newer] = [await process('this'), await process('next')]
    let running = 0
    let most = 0
    const slow = async (id: string): Promise<string> => {
      most = Math.max(most, ++running)
      await new Promise((later) => setTimeout(later, 100))
      running--
      return id
    }
    older.load.mockImplementation(slow)
    newer.load.mockImplementation(slow)
    await Promise.all([older.item.get('a'), newer.item.get('a')])
    expect(most).toBe(1)
  })
})
