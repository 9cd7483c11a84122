/**
 * Where answers are kept in the cache: pages in a definition of their own, by build; data under
 * one-off keys, since each call says for itself which tags (of its route) reach what it reads.
 */
import type { Cache, EntryOptions } from '../api.ts'
import { freshMs, type Kept } from './kept.ts'
import type { Wanted } from './options.ts'
import { Unrendered } from './claim.ts'
import { Renders } from './renders.ts'
import type { How, Told } from './renders.ts'

export interface Asking {
  /** Tags that reach what is read, whatever it was stored with. */
  readonly soft?: readonly string[] | undefined
  readonly rendersStale: boolean
}

export interface Shelf {
  /** To be called in the context of the caller, and never rejects. */
  ask(key: string, asking: Asking): Promise<Told>
  /** What a render has brought; `undefined`: nothing that can be kept. To be called as `ask` is. */
  ended(key: string): (kept: Kept | undefined) => Promise<void>
}

/** Read by all; to be changed when `Kept` does. */
const format = 1

const decidedMs = 50
const openMs = 1_000

export function pagesShelf(cache: Cache, wanted: Wanted, build: string): Shelf {
  const renders = rendersOf(wanted)
  const pages = cache.define<string, Kept>({
    ...rulesOf(wanted),
    name: wanted.name,
    version: `${format}-${build}`,
    load: (key, ctx) => renders.load(key, ctx as Parameters<Renders['load']>[1]),
  })
  return shelf(renders, wanted, {
    read: (key, _soft, how) => pages.get(key, how),
    put: (key, kept, how) => pages.set(key, kept, { ...rulesOf(wanted), ...how }),
  })
}

export function dataShelf(cache: Cache, wanted: Wanted, losesContext = false): Shelf {
  const renders = rendersOf(wanted, losesContext)
  const rules = rulesOf(wanted)
  const at = (key: string): string => `${wanted.name}:${format}:${key}`
  return shelf(renders, wanted, {
    read: (key, tags, how) =>
      cache.getOrLoad<Kept>(
        at(key),
        (ctx) => renders.load(key, ctx as Parameters<Renders['load']>[1]),
        { ...rules, tags, ...how },
      ),
    put: (key, kept, how) => cache.set<Kept>(at(key), kept, { ...rules, ...how }),
  })
}

interface Place {
  read(key: string, soft: readonly string[], how: How | undefined): Promise<Kept>
  put(key: string, kept: Kept, how: { ttl: number; tags: readonly string[] }): Promise<void>
}

function shelf(renders: Renders, { keepMs }: Wanted, { read, put }: Place): Shelf {
  return {
    ask: (key, { soft = [], rendersStale }) =>
      renders.ask(key, { rendersStale, read: (how) => read(key, soft, how) }),
    ended: (key) => {
      const ended = renders.ended(key)
      return async (kept) => {
        if (ended.type === 'claim') {
          const { claim } = ended
          if (kept === undefined) claim.fail(new Unrendered('its render is not to be kept'))
          else claim.fulfil(kept)
        }
        if (ended.type !== 'unasked' || kept === undefined) return
        const how = { ttl: freshMs(kept, keepMs), tags: kept.tags }
        // The store may be gone, the value too large: it is rendered again when it is asked for.
        await put(key, kept, how).catch(() => {})
      }
    },
  }
}

function rendersOf({ waitMs, renderMs, keepMs }: Wanted, losesContext = false): Renders {
  return new Renders({
    openMs,
    renderMs,
    waitMs,
    decidedMs: Math.min(waitMs, decidedMs),
    losesContext,
    ttlMs: (kept) => freshMs(kept, keepMs),
  })
}

/** Next.js says how long each entry is fresh: no share of that is taken off, and none is left early. */
function rulesOf({ keepMs, staleMs, renderMs }: Wanted) {
  // A claim ends by itself before.
  const loadTimeout = renderMs + openMs
  return {
    ttl: keepMs,
    staleWhileRevalidate: 0,
    staleIfError: staleMs,
    softTimeout: false,
    loadTimeout,
    waitTimeout: loadTimeout,
    errorTtl: 0,
    errorBackoff: 0,
    // Nobody shall take what is stale for fresh because a render failed.
    isFailure: () => false,
    jitter: 0,
    earlyRefresh: false,
    // Next.js may change what it is given: it gets a copy of what it changes.
    values: 'share',
    verify: false,
    isNegative: () => false,
  } as const satisfies EntryOptions<string, Kept>
}
