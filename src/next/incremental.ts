/**
 * `cacheHandler`: what Next.js keeps of pages, route handlers, `fetch`, `unstable_cache` and images.
 * It makes a handler per request, so all that lasts is made once, here.
 */
import { ageing, type Kept } from './kept.ts'
import { buildIdOf, buildShelf, isBuilding, nowhere, takesLifetime } from './build.ts'
import type { NextCacheOptions } from './option-types.ts'
import { pagesOptions } from './options.ts'
import { dataShelf, pagesShelf, type Shelf } from './shelves.ts'
import { changeTags, tagsOf, textsOf } from './tags.ts'

/** What Next.js says of a `get` and of a `set`, in any of its versions. */
interface Context {
  readonly kind?: string | undefined
  readonly fetchCache?: boolean | undefined
  readonly tags?: readonly string[] | undefined
  readonly softTags?: readonly string[] | undefined
  readonly revalidate?: number | false | undefined
  readonly cacheControl?: CacheControl | undefined
}

interface CacheControl {
  readonly revalidate: number | false
  readonly expire?: number | undefined
}

/** An answer as Next.js takes it. */
export interface NextCacheEntry {
  readonly lastModified: number
  readonly value: unknown
  readonly cacheControl?: { revalidate: number | false; expire: number | undefined }
}

/** What Next.js makes of `cacheHandler`'s default export. */
export interface NextCacheHandler {
  get(key: string, context: object): Promise<NextCacheEntry | null>
  set(key: string, data: unknown, context: object): Promise<void>
  revalidateTag(tags: string | string[], durations?: { expire?: number }): Promise<void>
  resetRequestCache(): void
}

export type NextCacheHandlerClass = new (context: object) => NextCacheHandler

interface Shelves {
  readonly pages: Shelf
  readonly data: Shelf
  readonly takesLifetime: boolean
}

export function incrementalHandler(options: NextCacheOptions): NextCacheHandlerClass {
  const wanted = pagesOptions(options)
  let shelves: Shelves | undefined
  const open = (serverDistDir: unknown): Shelves => {
    if (isBuilding()) return { pages: nowhere, data: buildShelf(), takesLifetime: true }
    const { version = buildIdOf(serverDistDir), name } = wanted
    const cache = wanted.cache()
    const pages = pagesShelf(cache, wanted, version === false ? '' : version)
    const data = dataShelf(cache, { ...wanted, name: `${name}-data` })
    return { pages, data, takesLifetime: takesLifetime(serverDistDir) }
  }

  return class implements NextCacheHandler {
    readonly #shelves: Shelves
    readonly #rendersStale: boolean

    constructor(context: object) {
      const { serverDistDir, _requestHeaders } = context as Record<string, unknown>
      this.#shelves = shelves ??= open(serverDistDir)
      this.#rendersStale = !isPrefetch(_requestHeaders)
    }

    async get(key: string, context: object): Promise<NextCacheEntry | null> {
      const { kind, tags = [], softTags = [], revalidate } = context as Context
      const isData = kind === 'FETCH' || kind === 'IMAGE'
      const soft = textsOf([...tags, ...softTags])
      const rendersStale = isData || this.#rendersStale
      const { data, pages, takesLifetime } = this.#shelves
      const told = await (isData ? data : pages).ask(key, { soft, rendersStale })
      if (told.type === 'nothing') return null
      const asked = kind === 'FETCH' && typeof revalidate === 'number' ? revalidate : undefined
      const asker = { now: Date.now(), isPage: !isData, asked, takesLifetime }
      return entryOf(told.kept, ageing(told.kept, told.type, asker))
    }

    async set(key: string, data: unknown, context: object): Promise<void> {
      const { kind = kindOf(data), fetchCache, tags } = context as Context
      const isData = fetchCache === true || kind === 'FETCH' || kind === 'IMAGE'
      const { pages, data: other } = this.#shelves
      const ended = (isData ? other : pages).ended(key)
      await ended({
        value: data,
        at: Date.now(),
        ...lifetimeOf(data, context as Context),
        tags: tagsOf(data, tags),
      })
    }

    async revalidateTag(tags: string | string[], durations?: { expire?: number }): Promise<void> {
      if (!isBuilding()) await changeTags(wanted.cache(), tags, durations)
    }

    resetRequestCache(): void {}
  }
}

function entryOf(kept: Kept, { lastModified, revalidate }: ReturnType<typeof ageing>) {
  const value = copyOf(kept.value)
  return { lastModified, value, cacheControl: { revalidate, expire: kept.expire } }
}

/** Next.js takes header fields out of what it is given, and all requests share one value. */
function copyOf(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value
  const { headers } = value as { headers?: unknown }
  return typeof headers === 'object' ? { ...value, headers: { ...headers } } : { ...value }
}

function kindOf(data: unknown): string | undefined {
  return (data as { kind?: string } | null)?.kind
}

/** Next.js 15.0 has `revalidate` in the context itself, data has its own. */
function lifetimeOf(data: unknown, context: Context): Pick<Kept, 'revalidate' | 'expire'> {
  const { cacheControl } = context
  const own = (data as { revalidate?: unknown } | null)?.revalidate
  const revalidate = cacheControl?.revalidate ?? (typeof own === 'number' ? own : undefined)
  const expire = cacheControl?.expire
  return {
    revalidate: revalidate ?? context.revalidate ?? false,
    expire: expire !== undefined && Number.isFinite(expire) ? expire : undefined,
  }
}

/** Then Next.js serves what is stale, and does not render. */
function isPrefetch(headers: unknown): boolean {
  const fields = (headers ?? {}) as Record<string, unknown>
  return fields['next-router-prefetch'] !== undefined || fields['purpose'] === 'prefetch'
}
