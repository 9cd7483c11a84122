// Big values on a real Redis: in pieces, each within its deadline, and gone with their frames.

import { afterEach, describe, expect, it, vi } from 'vitest'
import { createCache, type Cache, type CacheEvents, type CacheOptions } from '../../src/index.ts'
import { bothClients } from '../support/both-clients.ts'
import { ownServer } from '../support/own-server.ts'
import { well } from '../support/well.ts'

const redis = ownServer()

const bytes = (length: number, from = 0): Buffer => {
  const made = Buffer.alloc(length)
  for (let n = 0; n < length; n++) made[n] = Math.imul(n + from, 2654435761) >>> 23
  for (let n = 0; n < length; n += 3) made[n] = Math.floor(Math.random() * 256)
  return made
}
const big = bytes(3_000_000)

describe.each(bothClients)('with $library', ({ open }) => {
  const opened: { cache: Cache; end(): void }[] = []
  const process = async (options: Partial<CacheOptions> = {}, clientOptions: object = {}) => {
    const { store, end } = open({ host: '127.0.0.1', port: redis.port }, clientOptions)
    const cache = createCache({
      namespace: 'apart',
      ttl: '60s',
      maxBytes: '16MiB',
      storeTimeout: '2s', // on a machine that is busy with other tests
      store,
      ...options,
    })
    opened.push({ cache, end })
    await well(cache)
    return cache
  }
  afterEach(async () => {
    await Promise.all(opened.map(({ cache }) => cache.close({ timeout: 500 })))
    for (const { end } of opened.splice(0)) end()
    await redis.admin.flushall()
  })
  const bodies = () => redis.admin.keys('*:b:*')
  const frames = () => redis.admin.keys('*:v')
  const define = (cache: Cache, load: () => Promise<unknown>) =>
    cache.define({ name: 'file', load: (_: string) => load() })
  /** Two processes and what the first of them has loaded. */
  const stored = async (options: Partial<CacheOptions> = {}) => {
    const [one, two] = [await process(options), await process({ ...options, memory: false })]
    const load = vi.fn(async () => big as unknown)
    const elsewhere = vi.fn(async () => 'loaded elsewhere' as unknown)
    const [a, b] = [define(one, load), define(two, elsewhere)]
    await a.get('x')
    await one.idle()
    expect(await bodies()).toHaveLength(1)
    return { one, two, a, b, load, elsewhere }
  }

  it('is stored and read in pieces, and its frame stays small (T121)', async () => {
    const { b, elsewhere } = await stored()
    expect(Buffer.compare((await b.get('x')) as Buffer, big)).toBe(0)
    expect(elsewhere).not.toHaveBeenCalled()
    const [frame] = (await frames()) as [string]
    expect(await redis.admin.strlen(frame)).toBeLessThan(500)
  })

  it('comes back through a key prefix as well', async () => {
    const one = await process({}, { keyPrefix: 'own:' }).catch(() => undefined)
    if (one === undefined) return // node-redis has none
    const file = define(one, async () => big)
    await file.set('x', big)
    await file.invalidate('x')
    expect(await bodies()).toEqual([])
  })

  it('ends a while after its frame', async () => {
    await stored()
    const [body] = (await bodies()) as [string]
    const [frame] = (await frames()) as [string]
    const left = (await redis.admin.pttl(body)) - (await redis.admin.pttl(frame))
    expect(left).toBeGreaterThan(30_000)
    expect(left).toBeLessThan(90_000)
  })

  it.each<{ what: string; run: (a: Awaited<ReturnType<typeof stored>>) => Promise<unknown> }>([
    { what: 'invalidated', run: ({ a }) => a.invalidate('x') },
    { what: 'expired without a window', run: ({ a }) => a.expire('x') },
    { what: 'overwritten by a small value', run: ({ a }) => a.set('x', 'small') },
    {
      what: 'replaced by a small value that was loaded',
      run: async ({ a, one, load }) => {
        load.mockResolvedValue('small')
        await a.refresh('x')
        await one.idle()
      },
    },
  ])('leaves nothing when it is $what', async ({ run }) => {
    const made = await stored()
    await run(made)
    await made.one.idle()
    expect(await bodies()).toEqual([])
  })

  it('leaves one body when it is replaced by another big one', async () => {
    const { one, a, load, b } = await stored()
    const other = bytes(2_000_000, 7)
    load.mockResolvedValue(other)
    await a.refresh('x')
    await one.idle()
    expect(await bodies()).toHaveLength(1)
    await a.set('x', big)
    expect(await bodies()).toHaveLength(1)
    expect(Buffer.compare((await b.get('x')) as Buffer, big)).toBe(0)
  })

  it('is stale, and still there, when it is expired with a window', async () => {
    const { a, b } = await stored({ staleWhileRevalidate: '30s' })
    await a.expire('x')
    expect(await b.lookup('x')).toMatchObject({ outcome: 'stale', tier: 'store' })
  })

  it('that is not modified lives on with its frame', async () => {
    const one = await process({ staleWhileRevalidate: '30s', memory: false })
    const other = await process({ memory: false })
    let loads = 0
    const file = one.define({
      name: 'file',
      load: (_: string, ctx): Buffer => (loads++ === 0 ? big : ctx.notModified()),
    })
    await file.get('x')
    await one.idle()
    const [body] = (await bodies()) as [string]
    await redis.admin.pexpire(body, 5_000)
    await file.expire('x')
    await file.get('x')
    await vi.waitFor(() => expect(loads).toBe(2))
    await one.idle()
    expect(await redis.admin.pttl(body)).toBeGreaterThan(60_000)
    expect(await define(other, async () => 'other').lookup('x')).toMatchObject({ outcome: 'hit' })
  })

  it('whose body was evicted is a miss, and loaded anew', async () => {
    const { b, two, elsewhere } = await stored()
    const unread: CacheEvents['unreadable'][] = []
    two.on('unreadable', (event) => unread.push(event))
    await redis.admin.del(...(await bodies()))
    expect(await b.get('x')).toBe('loaded elsewhere')
    expect(elsewhere).toHaveBeenCalledTimes(1)
    expect(unread[0]).toMatchObject({ why: 'body' })
  })

  it.each<{ how: string; spoil: (body: string) => Promise<unknown> }>([
    { how: 'was cut short', spoil: (body) => redis.admin.set(body, big.subarray(0, 1_000_000)) },
    {
      how: 'was changed in one byte',
      spoil: (body) => redis.admin.setrange(body, 2_000_000, '~~~~'),
    },
    {
      how: 'is another type',
      spoil: (body) => redis.admin.multi().del(body).lpush(body, 'x').exec(),
    },
  ])('whose body $how is a miss, never a wrong value', async ({ spoil }) => {
    const { b } = await stored()
    const [body] = (await bodies()) as [string]
    await spoil(body)
    expect(await b.get('x')).toBe('loaded elsewhere')
  })

  it('that is fenced leaves no body behind', async () => {
    const [one, two] = [await process(), await process()]
    let began = (): void => {}
    const begun = new Promise<void>((resolve) => (began = resolve))
    let end = (_: unknown): void => {}
    const a = define(one, () => {
      began()
      return new Promise((resolve) => (end = resolve))
    })
    const getting = a.get('x')
    await begun
    await define(two, async () => 'other').invalidate('x')
    end(big)
    expect(Buffer.compare((await getting) as Buffer, big)).toBe(0)
    await one.idle()
    await vi.waitFor(async () => expect(await bodies()).toEqual([]))
    expect(await frames()).toEqual([])
  })

  it('that is invalidated while its body is being sent is not stored', async () => {
    const [one, two] = [await process(), await process({ memory: false })]
    const a = define(one, async () => big)
    const b = define(two, async () => 'newer')
    await a.get('x')
    while ((await bodies()).length === 0) await new Promise((soon) => setTimeout(soon, 1))
    await b.invalidate('x')
    await one.idle()
    expect(await b.get('x')).not.toEqual(big)
    await vi.waitFor(async () => expect(await bodies()).toEqual([]))
  })

  it('that is set, and invalidated before it has been sent, is gone', async () => {
    const [one, two] = [await process(), await process({ memory: false })]
    const [a, b] = [define(one, async () => 'newer'), define(two, async () => 'newer')]
    const setting = a.set('x', big)
    while ((await bodies()).length === 0) await new Promise((soon) => setTimeout(soon, 1))
    await a.invalidate('x')
    expect(await a.get('x')).toBe('newer')
    await setting
    expect(await b.get('x')).toBe('newer')
    await vi.waitFor(async () => expect(await bodies()).toEqual([]))
  })

  it('is given to those who waited for it elsewhere', async () => {
    const [one, two] = [await process(), await process()]
    let loads = 0
    const load = async (): Promise<unknown> => {
      loads++
      await new Promise((later) => setTimeout(later, 200))
      return big
    }
    const answers = await Promise.all([define(one, load).get('x'), define(two, load).get('x')])
    for (const answer of answers) expect(Buffer.compare(answer as Buffer, big)).toBe(0)
    expect(loads).toBe(1)
  })
})
