// What breakwater/admin sees of an entry that lies in Redis: its state as a reader would judge it, all
// that its frame says, its lease; and that a look leaves no trace.

import { startRedisServer, type RedisServer } from '@breakwater/rig'
import { randomBytes } from 'node:crypto'
import { crc32 } from 'node:zlib'
import { Redis } from 'ioredis'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { keyOf, keysOf, openAdmin, permissionsOf, type Admin } from '../../src/admin/index.ts'
import { encrypted } from '../../src/codecs/encrypted.ts'
import { json } from '../../src/codecs/json.ts'
import { v8 } from '../../src/codecs/v8.ts'
import { packFrame, plainBody } from '../../src/core/frame.ts'
import { createCache, type Cache, type CacheOptions, type LoadContext } from '../../src/index.ts'
import { memoryStore } from '../../src/testing/index.ts'
import { redisStore } from '../../src/redis/ioredis.ts'

let server: RedisServer
let client: Redis
let admin: Admin
const caches: Cache[] = []

beforeAll(async () => {
  server = await startRedisServer()
  client = new Redis(server.url)
  admin = openAdmin({ store: redisStore({ client, bus: false }), namespace: 'shop' })
})
afterAll(async () => {
  await Promise.all([admin.close(), ...caches.map((cache) => cache.close({ timeout: 0 }))])
  client.disconnect()
  await server.stop()
})

function open(options: Partial<CacheOptions> = {}): Cache {
  const cache = createCache({
    namespace: 'shop',
    ttl: '1h',
    jitter: 0,
    store: redisStore({ client }),
    storeTimeout: '2s',
    ...options,
  })
  caches.push(cache)
  return cache
}

async function stored(cache: Cache, key: string, value: unknown, options = {}): Promise<string> {
  await cache.set(key, value, options)
  return keysOf(key)[0]!
}

it('a fresh entry is seen with all that its frame says', async () => {
  const cache = open({ staleWhileRevalidate: '30s', staleIfError: '2h' })
  const item = cache.define({
    name: 'a: item',
    version: 2,
    load: async (id: number, ctx: LoadContext) => {
      ctx.meta({ etag: 'abc' })
      return { id, text: 'x'.repeat(5_000) }
    },
    tags: (value) => ['items', '@odd', `{${value.id}}`],
  })
  await item.get(7)
  await cache.idle()
  const key = keyOf({ resource: 'a: item', version: 2, arg: 7 })
  expect(key).toBe(item.key(7))

  const seen = await admin.entry(key)
  expect(seen).toMatchObject({ key, state: 'fresh', lease: undefined })
  expect(seen.leftMs).toBeGreaterThan(2 * 3_600_000)
  const frame = seen.frame!
  expect(frame).toMatchObject({
    negative: false,
    uncacheable: undefined,
    tags: ['items', '@odd', '{7}'],
    changedBy: undefined,
    meta: { etag: 'abc' },
    codec: 'msgpack',
    compression: expect.any(String),
    encrypted: false,
    apart: false,
    staleWhileRevalidateMs: 30_000,
    staleIfErrorMs: 7_200_000,
    value: { type: 'value', value: { id: 7, text: 'x'.repeat(5_000) } },
  })
  expect(frame.bytes).toBeGreaterThan(5_000)
  expect(frame.storedBytes).toBeLessThan(1_000)
  expect(frame.stamp.startsWith(frame.filledBy)).toBe(true)
  expect(frame.freshUntil - frame.storedAt).toBe(3_600_000)
})

it('windows are told apart: stale, only if loads fail, expired by a shorter life', async () => {
  const cache = open()
  const windows = { ttl: '1h', staleWhileRevalidate: '1h', staleIfError: '2h' }
  const stale = await stored(cache, 'stale', 1, windows)
  await cache.expire('stale')
  expect(await admin.entry(stale)).toMatchObject({ state: 'stale' })

  const onlyIfError = await stored(cache, 'if-error', 1, { ttl: '1h', staleIfError: '1h' })
  await cache.expire('if-error')
  expect(await admin.entry(onlyIfError)).toMatchObject({ state: 'stale-if-error' })

  // Redis keeps it a while longer than any reader takes it.
  const { stamp, tags, asOf, meta } = {
    stamp: 'x'.repeat(22),
    tags: [],
    asOf: 9e15,
    meta: undefined,
  }
  const past = Date.now() - 60_000
  const head = { stamp, tags, asOf, meta, startedAt: past, storedAt: past, freshUntil: past + 1 }
  const none = { staleWhileRevalidateMs: 0, staleIfErrorMs: 0, deltaMs: 0 }
  const frame = packFrame(
    { ...head, ...none, negative: false, uncacheable: undefined },
    plainBody(1, Buffer.from([1])),
    crc32,
  )
  await client.set('bw:shop:{k:past}:v', Buffer.from(frame), 'PX', 60_000)
  expect(await admin.entry('k:past')).toMatchObject({
    state: 'expired',
    frame: { value: { value: 1 } },
  })
})

it('what an entry is invalid by, or stale, is named', async () => {
  const cache = open({ staleWhileRevalidate: '1h' })
  const product = cache.define({
    name: 'product',
    tags: ['products', 'all: of {them}'],
    load: async (id: number) => id,
  })
  const fill = async (id: number): Promise<string> => {
    await product.get(id)
    await cache.idle()
    return product.key(id)
  }
  const one = await fill(1)
  await cache.expireTags('products')
  expect(await admin.entry(one)).toMatchObject({
    state: 'stale',
    frame: { changedBy: { what: 'tag "products"', tag: 'products', how: 'expired' } },
  })
  await cache.invalidateTags('all: of {them}')
  expect(await admin.entry(one)).toMatchObject({
    state: 'invalidated',
    frame: { changedBy: { what: 'tag "all: of {them}"', how: 'invalidated' } },
  })
  const two = await fill(2)
  expect(await admin.entry(two)).toMatchObject({ state: 'fresh' })
  await product.clear()
  expect(await admin.entry(two)).toMatchObject({
    state: 'invalidated',
    frame: { changedBy: { what: 'definition "product"', tag: undefined } },
  })
  const three = await fill(3)
  await cache.clear()
  expect(await admin.entry(three)).toMatchObject({
    state: 'invalidated',
    frame: { changedBy: { what: 'all entries' } },
  })
  const { newest, count, highest } = await admin.tags()
  expect(newest[0]).toMatchObject({ what: 'all entries', how: 'invalidated', epoch: highest })
  expect(newest).toHaveLength(count)
})

it('negative entries, marks and what cannot be read are what they are', async () => {
  const cache = open()
  await cache.getOrLoad('none', async () => null)
  await cache.idle()
  expect(await admin.entry('k:none')).toMatchObject({
    state: 'fresh',
    frame: { negative: true, value: { type: 'value', value: null } },
  })
  await cache.getOrLoad('private', async (ctx) => {
    ctx.noStore()
    return 1
  })
  await cache.idle()
  expect(await admin.entry('k:private')).toMatchObject({
    state: 'uncacheable',
    frame: { uncacheable: 'noStore', value: { type: 'none' } },
  })
  for (const [bytes, why] of [
    ['hello', 'foreign'],
    ['bw\x09' + 'x'.repeat(200), 'newer'],
    ['bw\x01', 'truncated'],
    ['bw\x01' + '\0'.repeat(200), 'corrupt'],
  ] as const) {
    await client.set('bw:shop:{k:odd}:v', bytes)
    expect(await admin.entry('k:odd')).toMatchObject({ state: 'unreadable', why, frame: undefined })
  }
  expect(await admin.entry('k:nothing')).toMatchObject({ state: 'missing', leftMs: undefined })
})

it('values are decoded where that can be done, and the reason is told where not', async () => {
  const cache = open()
  const keys = { '2026': randomBytes(32) }
  await stored(cache, 'json', { a: 1 }, { codec: json() })
  await stored(cache, 'v8', { a: 1 }, { codec: v8() })
  await stored(cache, 'secret', { a: 1 }, { codec: encrypted({ keys, use: '2026' }) })
  const valueOf = async (key: string, by = admin) => (await by.entry(`k:${key}`)).frame
  expect(await valueOf('json')).toMatchObject({ codec: 'json', value: { value: { a: 1 } } })
  expect(await valueOf('v8')).toMatchObject({ codec: 'v8', value: { type: 'none' } })
  expect(await valueOf('secret')).toMatchObject({ encrypted: true, value: { type: 'none' } })

  const store = redisStore({ client, bus: false })
  const knowing = openAdmin({ store, namespace: 'shop', codecs: [v8()] })
  expect(await valueOf('v8', knowing)).toMatchObject({ value: { value: { a: 1 } } })
  await knowing.close()
})

it('a value that lies apart is put together, and its size is counted', async () => {
  const cache = open()
  const bytes = randomBytes(3_000_000)
  await cache.getOrLoad('big', async () => bytes)
  await cache.idle()
  const { frame } = await admin.entry('k:big')
  expect(frame).toMatchObject({ apart: true })
  expect(frame!.storedBytes).toBeGreaterThan(3_000_000)
  const { value } = frame!
  expect(value.type === 'value' && Buffer.compare(value.value as Buffer, bytes)).toBe(0)
})

it('a lease is seen with its holder, who waits, and the failure of an earlier load', async () => {
  const [a, b] = [open(), open()]
  let end!: () => void
  const load = () => new Promise<number>((resolve) => (end = () => resolve(1)))
  const first = a.getOrLoad('held', load)
  await expect.poll(async () => (await admin.entry('k:held')).lease?.holder).toBeDefined()
  const alone = (await admin.entry('k:held')).lease!
  expect(alone).toMatchObject({ awaited: false, failure: undefined })
  expect(alone.holder!.startsWith(alone.heldBy!)).toBe(true)
  const second = b.getOrLoad('held', load)
  await expect.poll(async () => (await admin.entry('k:held')).lease?.awaited).toBe(true)
  end()
  await Promise.all([first, second])

  const fails = async (): Promise<never> => {
    throw Object.assign(new Error('no'), { code: 'E_NO' })
  }
  await a.getOrLoad('failed', fails, { errorTtl: '1m' }).catch(() => {})
  await a.idle()
  const { lease } = await admin.entry('k:failed')
  expect(lease).toMatchObject({ holder: undefined, heldBy: undefined })
  expect(lease!.failure!.backoffMs).toBeGreaterThan(50_000)
})

it('a look leaves no trace, also in a namespace that is not there', async () => {
  const other = openAdmin({ store: redisStore({ client, bus: false }), namespace: 'typo' })
  const before = await client.dbsize()
  await client.config('RESETSTAT')
  expect(await other.entry('k:x')).toMatchObject({ state: 'missing' })
  expect(await other.tags()).toMatchObject({ count: 0, highest: undefined, newest: [] })
  await admin.entry('k:json')
  const stats = await client.info('commandstats')
  const used = [...stats.matchAll(/^cmdstat_(\S+?):calls/gm)].map(([, name]) => name)
  const reads = [
    'get',
    'pttl',
    'zscore',
    'zcard',
    'zrevrange',
    'time',
    'info',
    'config|resetstat',
    'dbsize',
  ]
  expect(used.filter((name) => !reads.includes(name!))).toEqual([])
  expect(await client.dbsize()).toBe(before)
  await other.close()
})

it('what cannot be looked into is refused with a sentence', () => {
  expect(() => openAdmin({ store: memoryStore(), namespace: 'shop' })).toThrow(/redisStore\(\)/)
  const store = redisStore({ client, bus: false })
  expect(() => openAdmin({ store, namespace: 'a b' })).toThrow(/namespace: expected/)
})

it('the permissions are those that docs/errors.md names', async () => {
  const { readFileSync } = await import('node:fs')
  const page = readFileSync(new URL('../../docs/errors.md', import.meta.url), 'utf8')
  expect(page).toContain(`ACL SETUSER app on >password ${permissionsOf('shop').rules}\n`)
})
