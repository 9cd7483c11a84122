/** `cacheHandlers`: what Next.js keeps of functions and components marked `'use cache'`. */
import type { Kept } from './kept.ts'
import { buildShelf, isBuilding } from './build.ts'
import type { NextUseCacheOptions } from './option-types.ts'
import { useCacheOptions } from './options.ts'
import { dataShelf, type Shelf } from './shelves.ts'
import { changeTags, textsOf } from './tags.ts'
import type { Standing } from './kept.ts'

/** As `CacheEntry` of `next/cache`. Durations in seconds, `timestamp` in ms since 1970. */
export interface NextUseCacheEntry {
  value: ReadableStream<Uint8Array>
  tags: string[]
  stale: number
  timestamp: number
  expire: number
  revalidate: number
}

/** As `CacheHandler` of `next/cache`. */
export interface NextUseCacheHandler {
  get(cacheKey: string, softTags: string[]): Promise<NextUseCacheEntry | undefined>
  set(cacheKey: string, pendingEntry: Promise<NextUseCacheEntry>): Promise<void>
  refreshTags(): Promise<void>
  getExpiration(tags: string[]): Promise<number>
  updateTags(tags: string[], durations?: { expire?: number }): Promise<void>
  /** What Next.js 15 has in place of `updateTags`. */
  expireTags(...tags: string[]): Promise<void>
}

interface Body {
  readonly bytes: Uint8Array
  readonly stale: number
}

export function useCacheHandler(options: NextUseCacheOptions): NextUseCacheHandler {
  const wanted = useCacheOptions(options)
  let opened: Shelf | undefined
  const shelf = (): Shelf =>
    (opened ??= isBuilding() ? buildShelf() : dataShelf(wanted.cache(), wanted, true))

  return {
    async get(cacheKey, softTags = []) {
      const told = await shelf().ask(cacheKey, { soft: textsOf(softTags), rendersStale: true })
      return told.type === 'nothing' ? undefined : entryOf(told.kept, told.type)
    },

    async set(cacheKey, pendingEntry) {
      const ended = shelf().ended(cacheKey)
      // Neither a render that failed nor half an entry is kept; the page itself says what went wrong.
      const kept = await keptOf(pendingEntry).catch(() => undefined)
      await ended(kept)
    },

    // All instances hear of tags as they change.
    async refreshTags() {},

    // Tags of the route are held against the entry in `get`.
    async getExpiration() {
      return Infinity
    },

    async updateTags(tags, durations) {
      if (!isBuilding()) await changeTags(wanted.cache(), tags, durations)
    },

    async expireTags(...tags) {
      if (!isBuilding()) await changeTags(wanted.cache(), tags, undefined)
    },
  }
}

async function keptOf(pendingEntry: Promise<NextUseCacheEntry>): Promise<Kept | undefined> {
  const { value, tags, stale, timestamp, expire, revalidate } = await pendingEntry
  const bytes = await bytesOf(value)
  // Made for one request: Next.js would not take it back.
  if (expire === 0 || revalidate === 0) return undefined
  return {
    value: { bytes, stale } satisfies Body,
    at: timestamp,
    revalidate: Number.isFinite(revalidate) ? revalidate : false,
    expire: Number.isFinite(expire) ? expire : undefined,
    tags: textsOf(tags),
  }
}

async function bytesOf(stream: ReadableStream<Uint8Array>): Promise<Uint8Array> {
  const chunks: Uint8Array[] = []
  for await (const chunk of stream) chunks.push(chunk)
  return Buffer.concat(chunks)
}

function entryOf({ value, at, revalidate, expire = Infinity, tags }: Kept, standing: Standing) {
  const { bytes, stale } = value as Body
  const told = revalidate === false ? Infinity : revalidate
  const age = (Date.now() - at) / 1_000
  return {
    value: streamOf(bytes),
    tags: [...tags],
    stale,
    // Never bent: Next.js holds it against what this very request has changed.
    timestamp: at,
    expire,
    // What is past it, and is served as it is, another instance makes anew.
    revalidate: standing === 'stale' ? -1 : Math.max(told, Math.ceil(age) + 1),
  }
}

function streamOf(bytes: Uint8Array): ReadableStream<Uint8Array> {
  return new ReadableStream({
    start(controller) {
      // A copy: who reads a stream may take the memory of its chunks away.
      if (bytes.length > 0) controller.enqueue(new Uint8Array(bytes))
      controller.close()
    },
  })
}
