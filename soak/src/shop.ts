/**
 * What a process of the soak caches: hot keys and cold ones, a batch with tags, keys that are
 * written by one process alone, and a source that fails or hangs. Every value is a version of the
 * source, read when its load had begun.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { createCache, type Store } from 'breakwater'
import { leaseMs, namespace, placesAtSource } from './messages.ts'
import type { Source } from './source.ts'

export interface Told {
  loading(key: string): void
}

interface Signalled {
  readonly signal: AbortSignal
}

export class SourceFailed extends Error {
  readonly code = 'E_SOURCE'
}

export const tagOf = (n: number): string => `tag-${n % 5}`

export function openShop(store: Store, source: Source, random: () => number, told: Told) {
  let running = 0
  let most = 0
  let runs = 0
  /** One that was given up has left its place: it counts no more, however long it goes on. */
  const counted = async <T>(keys: number, { signal }: Signalled, run: () => Promise<T>) => {
    running += 1
    runs += keys
    most = Math.max(most, running)
    const left = once(() => (running -= 1))
    signal.addEventListener('abort', left)
    try {
      return await run()
    } finally {
      signal.removeEventListener('abort', left)
      left()
    }
  }
  /** Loaders heed their signal: who was given up runs no more. */
  const pause = ({ signal }: Signalled) => sleep(2 + random() * 18, undefined, { signal })

  const cache = createCache({
    namespace,
    store,
    ttl: '1s',
    lease: leaseMs,
    limit: { concurrency: placesAtSource },
    // Full after a moment: what is kept says nothing of what leaks.
    memory: { maxEntries: 300 },
    loadTimeout: '5s',
  })
  const hot = cache.define({
    name: 'hot',
    staleWhileRevalidate: '2s',
    staleIfError: '5s',
    load: (n: number, ctx) =>
      counted(1, ctx, async () => {
        const version = await source.version(`hot-${n}`)
        await pause(ctx)
        return version
      }),
  })
  const cold = cache.define({
    name: 'cold',
    load: (n: number, ctx) => counted(1, ctx, () => pause(ctx).then(() => n)),
  })
  const loadBatch = (all: readonly number[], ctx: Signalled) =>
    counted(all.length, ctx, async () => {
      const own = await source.versions(all.map((n) => `batch-${n}`))
      const tags = await source.versions(all.map(tagOf))
      await pause(ctx)
      return all.map((_, at) => ({ own: own[at] ?? 0, tag: tags[at] ?? 0 }))
    })
  const batch = cache.define({
    name: 'batch',
    load: async (n: number, ctx) => (await loadBatch([n], ctx))[0]!,
    loadMany: loadBatch,
    tags: (_value, n) => [tagOf(n)],
  })
  /** By one process each, so that the last write to the cache is the last in the source. */
  const written = cache.define({
    name: 'written',
    load: (key: string, ctx) =>
      counted(1, ctx, async () => {
        const version = await source.version(`written-${key}`)
        await pause(ctx)
        return version
      }),
  })
  const failing = cache.define({
    name: 'failing',
    ttl: '200ms',
    loadTimeout: '500ms',
    waitTimeout: '1s',
    // One that hangs is given up at its deadline, and its place is free again.
    load: (n: number, ctx) => {
      const luck = random()
      if (luck < 0.1) {
        runs += 1
        return sleep(2_000).then(() => n)
      }
      return counted(1, ctx, async () => {
        if (luck < 0.3) throw new SourceFailed('the source said no')
        await pause(ctx)
        return n
      })
    },
  })
  const single = cache.define({
    name: 'single',
    ttl: '4s',
    load: ({ key, ms }: { key: string; ms: number }, ctx) =>
      counted(1, ctx, async () => {
        told.loading(key)
        await source.loaded(key)
        const version = await source.version(key)
        await sleep(ms)
        return version
      }),
    key: ({ key }) => key,
  })
  return {
    cache,
    resources: { hot, cold, batch, written, failing, single },
    figures: () => ({ runs, mostLoads: most }),
  }
}

export type Shop = ReturnType<typeof openShop>

function once(run: () => void): () => void {
  let done = false
  return () => {
    if (!done) run()
    done = true
  }
}
