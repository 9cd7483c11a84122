// Instances of one application: a cache and both handlers each, on one Redis. What Next.js does with
// a handler is done here by hand.

import { AsyncResource } from 'node:async_hooks'
import { Redis } from 'ioredis'
import { afterEach } from 'vitest'
import { createCache, type Cache, type CacheOptions } from '../../src/index.ts'
import { redisStore } from '../../src/redis/ioredis.ts'
import { nextCacheHandler, nextUseCacheHandler } from '../../src/next/index.ts'
import type { NextCacheOptions, NextUseCacheHandler } from '../../src/next/index.ts'
import type { NextCacheEntry, NextCacheHandler } from '../../src/next/index.ts'
import type { OwnServer } from '../support/own-server.ts'

export interface Instance {
  readonly cache: Cache
  /** As Next.js makes one for each request. */
  request(headers?: Record<string, string>): NextCacheHandler
  readonly useCache: NextUseCacheHandler
  end(): Promise<void>
}

type Options = Omit<NextCacheOptions, 'cache'> & Pick<CacheOptions, 'outageTtl' | 'maxBytes'>

export function instances(server: OwnServer) {
  const open: Instance[] = []
  let namespaces = 0
  let namespace = ''
  afterEach(async () => {
    for (const instance of open.splice(0)) await instance.end()
    namespace = ''
  })
  return (options: Options = {}): Instance => {
    namespace ||= `app-${++namespaces}`
    const { outageTtl, maxBytes, ...own } = options
    const client = new Redis({ port: server.port, retryStrategy: () => 50 })
    client.on('error', () => {})
    const cache = createCache({
      namespace,
      ttl: '1m',
      store: redisStore({ client }),
      storeTimeout: 1_000,
      limit: { concurrency: 1_000 },
      outageTtl,
      maxBytes,
    })
    const { version = 'build', ...both } = own
    const Handler = nextCacheHandler({ cache, version, ...both })
    const useCache = nextUseCacheHandler({ cache, ...both })
    const instance: Instance = {
      cache,
      request: (headers = {}) => new Handler({ _requestHeaders: headers }),
      useCache,
      end: async () => {
        await cache.close({ timeout: 200 })
        client.disconnect()
      },
    }
    open.push(instance)
    return instance
  }
}

export const page = { kind: 'APP_PAGE', isFallback: false } as const

export interface Lifetime {
  readonly revalidate: number | false
  readonly expire?: number
}

/** A page as Next.js 16 gives it to `set`. */
export function pageOf(html: string, tags = ''): object {
  return {
    kind: 'APP_PAGE',
    html,
    rscData: Buffer.from([0, 255, 254, 128, 10]),
    headers: { 'x-next-cache-tags': tags, 'x-of-the-page': ['one', 'two'] },
    postponed: undefined,
    status: 200,
    segmentData: new Map([
      ['/_tree', Buffer.from([1, 0, 200])],
      ['/_full', Buffer.alloc(0)],
    ]),
  }
}

/** How Next.js 16 sees an entry: by the instants that the handler gave it. */
export function seenAs(entry: NextCacheEntry | null): 'missing' | 'fresh' | 'stale' | 'expired' {
  if (entry === null) return 'missing'
  const { lastModified, cacheControl } = entry
  const { revalidate, expire } = cacheControl!
  const now = Date.now()
  if (expire !== undefined && lastModified + expire * 1_000 < now) return 'expired'
  return revalidate !== false && lastModified + revalidate * 1_000 < now ? 'stale' : 'fresh'
}

export interface Served {
  readonly html: string
  readonly seen: ReturnType<typeof seenAs>
  /** What is rendered after the answer. */
  readonly background: Promise<void> | undefined
}

/** In a context of its own, as requests are. */
export function apart<T>(run: () => T): T {
  return new AsyncResource('request').runInAsyncScope(run)
}

/** One request for a page, as Next.js answers it. `render` rejects: nothing is stored. */
export function visit(...what: Parameters<typeof answer>): Promise<Served> {
  return apart(() => answer(...what))
}

async function answer(
  instance: Instance,
  key: string,
  render: () => Promise<string>,
  how: Lifetime & { readonly tags?: string; readonly headers?: Record<string, string> },
): Promise<Served> {
  const { tags = '', headers, ...cacheControl } = how
  const handler = instance.request(headers)
  const entry = await handler.get(key, page)
  const seen = seenAs(entry)
  const renderAndSet = async (): Promise<string> => {
    const html = await render()
    await handler.set(key, pageOf(html, tags), { ...page, cacheControl })
    return html
  }
  const { html } = (entry?.value ?? {}) as { html: string }
  if (seen === 'fresh') return { html, seen, background: undefined }
  if (seen === 'stale' && headers === undefined) {
    return { html, seen, background: renderAndSet().then(() => {}) }
  }
  return seen === 'stale'
    ? { html, seen, background: undefined }
    : { html: await renderAndSet(), seen, background: undefined }
}

/** A source whose renders are counted, and end when they are told to. */
export function counted(ms = 0) {
  const renders = { begun: 0, content: 'first' }
  const render = async (): Promise<string> => {
    renders.begun++
    const { content } = renders
    if (ms > 0) await pause(ms)
    return content
  }
  return { renders, render }
}

export function pause(ms: number): Promise<void> {
  return new Promise((resolve) => void setTimeout(resolve, ms))
}

export async function until(holds: () => unknown, forMs = 10_000): Promise<void> {
  const giveUpAt = Date.now() + forMs
  while (!(await holds())) {
    if (Date.now() > giveUpAt) throw new Error('it never came to hold')
    await pause(10)
  }
}
