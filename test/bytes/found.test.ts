// Faults that an attack on big values, schemas and seals has found, each as what is right.

import { randomBytes } from 'node:crypto'
import { crc32 } from 'node:zlib'
import { Redis } from 'ioredis'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { encrypted } from '../../src/codecs/encrypted.ts'
import { json } from '../../src/codecs/json.ts'
import { msgpack } from '../../src/codecs/msgpack.ts'
import { packFrame, packNote } from '../../src/core/frame.ts'
import type { Head } from '../../src/core/head.ts'
import { createCache, defineCodec, type Cache, type CacheOptions } from '../../src/index.ts'
import type { Definition, LoadContext } from '../../src/index.ts'
import { port, type Store, type StorePort, type StoreSession } from '../../src/ports.ts'
import { redisStore } from '../../src/redis/ioredis.ts'
import { openSession } from '../support/open-session.ts'
import { rawFrames } from '../support/raw-frames.ts'
import { world } from '../support/two-processes.ts'
import { ownServer } from '../support/own-server.ts'
import { well } from '../support/well.ts'

type Schema = NonNullable<Definition<string, unknown>['schema']>
const schemaOf = (validate: (value: unknown) => unknown): Schema => ({
  '~standard': { version: 1, vendor: 'test', validate } as Schema['~standard'],
})
const never = new Promise<never>(() => {})

describe('a schema that takes its time', () => {
  const slow = () => {
    let go = (): void => {}
    const gate = new Promise<void>((resolve) => (go = resolve))
    return { go: () => go(), schema: schemaOf(async (value) => (await gate, { value })) }
  }

  it('lets no set land after an invalidation that was called later (I3)', async () => {
    const cache = await world().process()
    const { go, schema } = slow()
    const item = cache.define({ name: 'item', load: async (_: string) => 'new', schema })
    const setting = item.set('x', 'old')
    await item.invalidate('x')
    go()
    await setting
    expect(await item.get('x')).toBe('new')
  })

  it('leaves sets in the order of their calls', async () => {
    const { process } = world()
    const cache = await process()
    const other = (await process()).define({ name: 'item', load: async (_: string) => 'loaded' })
    let go = (): void => {}
    const gate = new Promise<void>((resolve) => (go = resolve))
    const schema = schemaOf((value) =>
      value === 'first' ? gate.then(() => ({ value })) : { value },
    )
    const item = cache.define({ name: 'item', load: async (_: string) => 'loaded', schema })
    const both = [item.set('x', 'first'), item.set('x', 'second')]
    await new Promise((resolve) => void setImmediate(resolve))
    go()
    await Promise.all(both)
    expect(await other.get('x')).toBe('second')
    expect(await item.get('x')).toBe('second')
  })

  it('and never ends keeps no caller, no look and no lease (I4)', async () => {
    const { process, clock } = world()
    const cache = await process({ memory: false })
    const failed: unknown[] = []
    cache.on('callbackFailed', ({ callback }) => failed.push(callback))
    const item = cache.define({
      name: 'item',
      load: async (_: string) => 'value',
      loadTimeout: '5s',
      schema: schemaOf(() => never),
    })
    const other = (await process()).define({ name: 'item', load: async (_: string) => 'other' })

    const loading = item.get('x')
    const elsewhere = other.get('x')
    await clock.advance(6_000)
    expect(await loading).toBe('value')
    await clock.advance(1_000)
    expect(await elsewhere).toBe('other')

    await other.get('y')
    const looking = [item.get('y'), item.get('y')]
    await clock.advance(20_000)
    expect(await Promise.all(looking)).toEqual(['value', 'value'])
    expect(new Set(failed)).toEqual(new Set(['schema']))
  })
})

describe('what throws something that has no text', () => {
  const textless = (): never => {
    throw Object.create(null)
  }
  const decodes = (id: number, length: number) =>
    defineCodec<unknown>({
      name: 'own',
      id,
      encode: () => Buffer.alloc(length),
      decode: textless,
    })
  const encodes = defineCodec<unknown>({
    name: 'own',
    id: 203,
    encode: textless,
    decode: textless,
  })

  it.each([
    ['a schema', { schema: schemaOf(textless) }],
    ['a schema, later', { schema: schemaOf(async () => textless()) }],
    ['encode', { codec: encodes }],
    ['decode of a small value', { codec: decodes(201, 10) }],
    ['decode of a big value', { codec: decodes(202, 300_000) }],
    [
      'a property of ctx.meta',
      {
        load: async (_: string, ctx: LoadContext) => {
          ctx.meta(
            Object.defineProperty({}, 'a', {
              enumerable: true,
              get: () => {
                throw null
              },
            }),
          )
          return { a: 1 }
        },
      },
    ],
  ])('costs neither the value nor the lease: %s', async (_, options) => {
    const { process, clock } = world()
    const cache = await process()
    const load = async (_: string): Promise<unknown> => ({ a: 1 })
    const item = cache.define({ name: 'item', load, ...options })
    expect(await item.get('x')).toEqual({ a: 1 })
    const other = (await process()).define({ name: 'item', load: async (_: string) => 'other' })
    const elsewhere = other.get('x')
    await clock.advance(100)
    expect(await elsewhere).toBe('other')
  })
})

describe('a sealed frame', () => {
  it('is nobody else’s: not even a meta that is moved into a value', async () => {
    const { process, clock, store } = world()
    const cache = await process({ codec: encrypted({ keys: { k: Buffer.alloc(32, 7) } }) })
    const item = cache.define({
      name: 'item',
      load: async (_: string, ctx: LoadContext): Promise<unknown> => {
        ctx.meta({ admin: true })
        return 'value'
      },
      memory: false,
    })
    await item.get('x')
    await cache.idle()
    const raw = rawFrames(store, clock)
    const { head, codec } = await raw.frame(item.key('x'))
    const payload = head.meta!
    const body = { codec, payload, compression: 0, isSealed: true, isApart: false }
    const frame = packFrame(
      { ...head, meta: undefined },
      { ...body, rawLength: payload.length - 47 },
      crc32,
    )
    await raw.write(item.key('x\nmeta'), frame)
    expect(await item.get('x\nmeta')).toBe('value')
  })
})

describe('another codec', () => {
  it('finds the meta of a value that was renewed by ctx.notModified() readable', async () => {
    const { process, clock } = world()
    const rules = { name: 'item', ttl: '10s', jitter: 0, staleIfError: '1h' } as const
    const older = (await process({ codec: json() })).define({
      ...rules,
      load: async (_: string, ctx: LoadContext) => {
        ctx.meta('v1')
        return { at: new Date(5) }
      },
    })
    const load = vi.fn(async (_: string, ctx: LoadContext): Promise<unknown> => {
      if (ctx.previous !== undefined) return ctx.notModified()
      ctx.meta('v2')
      return 'loaded anew'
    })
    await older.get('x')
    await clock.advance(11_000)
    const one = await process({ codec: msgpack() })
    expect(await one.define({ ...rules, load }).get('x')).toEqual({ at: new Date(5) })
    await one.idle()
    const two = await process({ codec: msgpack() })
    const again = two.define({ ...rules, load })
    expect(await again.get('x')).toEqual({ at: new Date(5) })
    expect(await again.peek('x')).toMatchObject({ meta: 'v1' })
    expect(load).toHaveBeenCalledOnce()
    // It is renewed once more, by its head alone.
    await clock.advance(11_000)
    expect(await again.get('x')).toEqual({ at: new Date(5) })
    expect(load).toHaveBeenCalledTimes(2)
  })
})

it.each([100_000, 300_000])(
  'a set of %d bytes that takes longer to compress than the next one stays the older one',
  async (length) => {
    const { process } = world()
    const [cache, elsewhere] = [await process(), await process()]
    const definition = { name: 'item', load: async (_: string) => 'loaded' }
    const [item, other] = [cache.define(definition), elsewhere.define(definition)]
    await Promise.all([item.set('x', 'a'.repeat(length)), item.set('x', 'b')])
    expect(await other.get('x')).toBe('b')
    expect(await item.get('x')).toBe('b')
  },
)

describe('on a real Redis', () => {
  const redis = ownServer()
  const caches: { cache: Cache; client: Redis }[] = []
  const process = async (
    wrap: (store: Store) => Store = (store) => store,
    options: Partial<CacheOptions> = {},
  ) => {
    const client = new Redis({ port: redis.port })
    const cache = createCache({
      namespace: 'found',
      ttl: '60s',
      storeTimeout: '2s',
      store: wrap(redisStore({ client })),
      ...options,
    })
    caches.push({ cache, client })
    await well(cache)
    return cache
  }
  afterEach(async () => {
    await Promise.all(caches.map(({ cache }) => cache.close({ timeout: 500 })))
    for (const { client } of caches.splice(0)) client.disconnect()
    await redis.admin.flushall()
  })
  const big = randomBytes(2_000_000)
  const bodies = () => redis.admin.keys('*:b:*')
  type Bodies = NonNullable<StoreSession['bodies']>
  /** A store whose `bodies` are changed. */
  const withBodies =
    (change: (own: Bodies) => Partial<Bodies>) =>
    (store: Store): Store => {
      const inner = store as StorePort
      const wrapped: StorePort = {
        ...inner,
        [port]: 'store',
        open: (scope) => {
          const session = inner.open(scope)
          const own = session.bodies!
          const bodies = { ...own, ...change(own) }
          return new Proxy(session, {
            get(_, name) {
              if (name === 'bodies') return bodies
              const value = session[name as keyof StoreSession]
              return typeof value === 'function' ? value.bind(session) : value
            },
          })
        },
      }
      return wrapped
    }
  /** `then` stands after each piece. */
  const puttingBy = (then: () => Promise<void>) =>
    withBodies((own) => ({
      put: async (...args) => {
        await own.put(...args)
        await then()
      },
    }))

  it('a big value is stored while its key settles, and its body has an end', async () => {
    const cache = await process()
    const file = cache.define({ name: 'file', load: async (_: string) => big })
    await file.invalidate('x', { settle: '30s' })
    await file.get('x')
    await cache.idle()
    expect(await redis.admin.keys('*{r:file:x}:v')).toHaveLength(1)
    const [body] = await bodies()
    expect(await redis.admin.pttl(body!)).toBeGreaterThan(0)
  })

  it('a body ends with its frame when that was expired, too', async () => {
    const cache = await process()
    const file = cache.define({
      name: 'file',
      load: async (_: string) => big,
      ttl: '10m',
      staleIfError: '30s',
    })
    await file.get('x')
    await cache.idle()
    await file.expire('x')
    const [frame] = await redis.admin.keys('*{r:file:x}:v')
    const [body] = await bodies()
    expect(await redis.admin.pttl(frame!)).toBeLessThanOrEqual(30_000)
    expect(await redis.admin.pttl(body!)).toBeLessThanOrEqual(90_000)
    expect(await redis.admin.pttl(body!)).toBeGreaterThan(60_000)
    expect(await file.get('x')).toHaveLength(big.length)
  })

  it('a big set that was invalidated while its pieces were put is never seen (I3)', async () => {
    let go = (): void => {}
    const gate = new Promise<void>((resolve) => (go = resolve))
    const cache = await process(puttingBy(() => gate))
    const file = cache.define({ name: 'file', load: async (_: string): Promise<unknown> => 'new' })
    const setting = file.set('x', big)
    await vi.waitFor(async () => expect(await bodies()).toHaveLength(1))
    await file.invalidate('x')
    const sent: string[] = []
    const monitor = await redis.admin.duplicate().monitor()
    monitor.on('monitor', (_: string, [name, key]: string[]) => sent.push(`${name} ${key}`))
    go()
    await setting
    expect(await file.get('x')).toBe('new')
    await cache.idle()
    await redis.admin.echo('end')
    await vi.waitFor(() => expect(sent).toContain('echo end'))
    monitor.disconnect()
    // That of the load.
    expect(sent.filter((one) => /^SET .*:v$/.test(one))).toHaveLength(1)
    await vi.waitFor(async () => expect(await bodies()).toEqual([]))
  })

  it('a big set that takes longer to put than the next one stays the older one', async () => {
    const [cache, elsewhere] = [await process(), await process()]
    const definition = { name: 'file', load: async (_: string): Promise<unknown> => 'loaded' }
    const [file, other] = [cache.define(definition), elsewhere.define(definition)]
    await Promise.all([file.set('x', big), file.set('x', 'small')])
    expect(await other.get('x')).toBe('small')
    expect(await file.get('x')).toBe('small')
  })

  it('a body that cannot be put leaves neither pieces nor a lease behind', async () => {
    let left = 3
    const cache = await process(
      puttingBy(async () => {
        if (--left < 0) throw new Error('told to fail')
      }),
    )
    const file = cache.define({ name: 'file', load: async (_: string) => big, lease: '30s' })
    await file.get('x')
    await cache.idle()
    expect(await bodies()).toEqual([])
    expect(await redis.admin.keys('*:l')).toEqual([])
  })

  it('an older value covers for one whose body Redis did not give any more', async () => {
    let freezes = false
    const rules = { staleIfError: '1h', jitter: 0, earlyRefresh: false } as const
    const freezing = withBodies((own) => ({
      get: async (...args) => {
        if (freezes) void redis.admin.client('PAUSE', 1_000, 'ALL')
        if (freezes) await new Promise((resolve) => setTimeout(resolve, 30))
        return own.get(...args)
      },
    }))
    const cache = await process(freezing, { ...rules, storeTimeout: 150 })
    const elsewhere = await process(undefined, rules)
    const file = cache.define({
      name: 'file',
      load: async (_: string): Promise<unknown> => {
        throw new Error('the source is gone, too')
      },
    })
    const other = elsewhere.define({
      name: 'file',
      load: async (_: string): Promise<unknown> => big,
    })
    await other.get('x')
    await elsewhere.idle()
    expect(await file.get('x')).toHaveLength(big.length)
    // What memory has is not believed any more, but still there.
    await redis.admin.call('CLIENT', 'KILL', 'TYPE', 'pubsub')
    await new Promise((resolve) => setTimeout(resolve, 20))
    await other.refresh('x')
    await elsewhere.idle()
    freezes = true
    expect((await file.lookup('x')).value).toHaveLength(big.length)
    await redis.admin.ping()
  })

  it('a body ends soon without its frame, and a write that is sent twice keeps it', async () => {
    const client = new Redis({ port: redis.port })
    const { session, reaches } = openSession(redisStore({ client }))
    await reaches('ready')
    const id = 'B'.repeat(22)
    const bytes = Buffer.from('body')
    await session.bodies!.put('k', { id, at: 0, bytes })
    const [body = ''] = await bodies()
    // Its frame may never come: its process has died.
    expect(await redis.admin.pttl(body)).toBeLessThanOrEqual(60_000)
    const stamp = 'A'.repeat(22)
    const now = Date.now()
    const head: Head = {
      stamp,
      startedAt: now,
      storedAt: now,
      freshUntil: now + 60_000,
      staleWhileRevalidateMs: 0,
      staleIfErrorMs: 0,
      deltaMs: 0,
      asOf: 0,
      negative: false,
      uncacheable: undefined,
      tags: [],
      meta: undefined,
    }
    const payload = packNote({ id, length: bytes.length, crc: crc32(bytes) })
    const how = { codec: 1, compression: 0, isSealed: false, isApart: true }
    const frame = packFrame(head, { ...how, payload, rawLength: bytes.length }, crc32)
    const request = { key: 'k', frame, lifeMs: 60_000, stamp, notAfter: now + 60_000 }
    expect(await session.write(request)).toBe('ok')
    expect(await session.write(request)).toBe('ok')
    expect(await redis.admin.pttl(body)).toBeGreaterThan(60_000)
    await session.close()
    client.disconnect()
  })
})
