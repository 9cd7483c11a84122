// Functions and components marked 'use cache', in two instances on one Redis.

import { describe, expect, it } from 'vitest'
import type { NextUseCacheEntry } from '../../src/next/index.ts'
import { ownServer } from '../support/own-server.ts'
import { apart, instances, pause, until, type Instance } from './instances.ts'

const server = ownServer()
const instance = instances(server)

type Rest = Omit<NextUseCacheEntry, 'value'>
const usual: Omit<Rest, 'timestamp'> = { tags: [], stale: 300, expire: 3_600, revalidate: 900 }

function entryOf(parts: (Uint8Array | Error)[], rest: Partial<Rest> = {}): NextUseCacheEntry {
  const left = [...parts]
  const value = new ReadableStream<Uint8Array>({
    pull(controller) {
      const part = left.shift()
      if (part === undefined) controller.close()
      else if (part instanceof Error) controller.error(part)
      else controller.enqueue(part)
    },
  })
  return { value, timestamp: Date.now(), ...usual, ...rest }
}

async function bytesOf(entry: NextUseCacheEntry | undefined): Promise<string | undefined> {
  if (entry === undefined) return undefined
  return Buffer.from(await new Response(entry.value).arrayBuffer()).toString('latin1')
}

/** A call of the function, as Next.js makes it: `run` is what it computes. */
async function call(
  { useCache }: Instance,
  key: string,
  run: () => Promise<string>,
  { soft = [], ...rest }: Partial<Rest> & { soft?: string[] } = {},
): Promise<string> {
  const entry = await useCache.get(key, soft)
  if (entry !== undefined) return (await bytesOf(entry))!
  const timestamp = Date.now()
  const result = run()
  const pending = result.then((text) => entryOf([Buffer.from(text)], { timestamp, ...rest }))
  void useCache.set(key, pending).catch(() => {})
  return result
}

describe('streams', () => {
  it('come back in another instance byte for byte, a new one for each reader', async () => {
    const [a, b] = [instance(), instance()]
    const parts = [Buffer.from([0, 255, 128]), Buffer.alloc(0), Buffer.alloc(70_000, 7)]
    expect(await a.useCache.get('f', [])).toBeUndefined()
    await a.useCache.set('f', Promise.resolve(entryOf(parts)))
    await a.cache.idle()
    for (const of of [a, b, b]) {
      const entry = await of.useCache.get('f', [])
      expect(await bytesOf(entry)).toBe(Buffer.concat(parts).toString('latin1'))
    }
  })

  it('T141 that break off are not kept, and those who wait compute for themselves', async () => {
    const [a, b] = [instance(), instance()]
    expect(await a.useCache.get('f', [])).toBeUndefined()
    const waiting = b.useCache.get('f', [])
    await a.useCache.set('f', Promise.resolve(entryOf([Buffer.from('ha'), new Error('cut')])))
    expect(await waiting).toBeUndefined()
    await a.useCache.set('g', Promise.reject(new Error('no database')))
  })

  it('nothing that is for one request alone is kept', async () => {
    const a = instance()
    for (const rest of [{ expire: 0 }, { revalidate: 0 }]) {
      expect(await a.useCache.get('f', [])).toBeUndefined()
      await a.useCache.set('f', Promise.resolve(entryOf([Buffer.from('x')], rest)))
    }
    await a.cache.idle()
    expect(await a.useCache.get('f', [])).toBeUndefined()
  })
})

describe('one computation', () => {
  it('for all that call at once, in both instances', async () => {
    const [a, b] = [instance(), instance()]
    let runs = 0
    const run = async () => `${++runs} ${(await pause(200)) ?? ''}`
    const all = Array.from({ length: 20 }, (_, n) => apart(() => call(n % 2 ? a : b, 'f', run)))
    expect(new Set(await Promise.all(all))).toEqual(new Set(['1 ']))
  })

  it('a value past its time is given to all, and one instance is told to compute it anew', async () => {
    const [a, b] = [instance(), instance()]
    const short = { revalidate: 1, expire: 3_600 }
    await call(a, 'f', async () => 'x', short)
    await pause(1_200)
    const told = await Promise.all(
      [a, b, a, b].map(({ useCache }) => apart(() => useCache.get('f', []))),
    )
    expect(await Promise.all(told.map(bytesOf))).toEqual(['x', 'x', 'x', 'x'])
    const isStale = (entry: NextUseCacheEntry | undefined) =>
      entry!.timestamp + entry!.revalidate * 1_000 < Date.now()
    expect(told.filter(isStale)).toHaveLength(1)
    expect(told.filter((entry) => entry?.revalidate === -1)).toHaveLength(1)
  })
})

describe('tags', () => {
  it('updateTags on one instance is seen by the other', async () => {
    const [a, b] = [instance(), instance()]
    await call(a, 'f', async () => 'first', { tags: ['posts'] })
    expect(await call(b, 'f', async () => 'own', { tags: ['posts'] })).toBe('first')
    await a.useCache.updateTags(['posts'])
    await until(
      async () => (await call(b, 'f', async () => 'second', { tags: ['posts'] })) !== 'first',
    )
    expect(await call(a, 'f', async () => 'third', { tags: ['posts'] })).toBe('second')
  })

  it('a handler does what Next.js 15 asks of one, too', async () => {
    const a = instance()
    await call(a, 'f', async () => 'first', { tags: ['posts'] })
    await a.useCache.expireTags('posts', 'more')
    expect(await call(a, 'f', async () => 'second', { tags: ['posts'] })).toBe('second')
  })

  it('of the route reach what is read there', async () => {
    const a = instance()
    await call(a, 'f', async () => 'first')
    expect(await call(a, 'f', async () => 'second', { soft: ['_N_T_/p'] })).toBe('first')
    await a.useCache.updateTags(['_N_T_/p'])
    expect(await call(a, 'f', async () => 'third', { soft: ['_N_T_/p'] })).toBe('third')
    expect(await a.useCache.getExpiration(['_N_T_/p'])).toBe(Infinity)
  })
})
