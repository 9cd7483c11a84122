/** The proxy's cache: in memory, and in Redis where one is named. A Redis that is away is waited for. */
import type { Cache } from 'breakwater'
import type { ProxySettings } from './settings.ts'

export interface OpenCache {
  readonly cache: Cache
  close(timeoutMs: number): Promise<void>
}

/** What a body that is kept may take behind its head. */
const bodyMs = 15_000

export async function openCache(
  { namespace, redis, origin, cache: rules }: ProxySettings,
  note: (text: string) => void,
): Promise<OpenCache> {
  const { createCache } = await import('breakwater')
  const usual = {
    namespace,
    ttl: rules.ttlMs,
    memory: { maxEntries: 100_000, maxBytes: rules.memoryBytes },
    // The origin's own times come first.
    loadTimeout: origin.connectTimeoutMs + origin.timeoutMs + bodyMs,
    limit: { concurrency: rules.limit },
    precompute: false,
  } as const
  if (redis === undefined) {
    const cache = createCache(usual)
    return { cache, close: (timeout) => cache.close({ timeout }) }
  }
  const [{ connect }, { storeOf }] = await Promise.all([
    import('../connect/client.ts'),
    import('../connect/open.ts'),
  ])
  const connection = await connect(redis, {
    persists: true,
    unreachable: (failure) => note(`${failure.message}; until it answers, memory alone`),
  })
  const cache = createCache({
    ...usual,
    store: storeOf(connection, true),
    storeTimeout: rules.storeTimeoutMs,
  })
  return {
    cache,
    close: async (timeout) => {
      await cache.close({ timeout })
      connection.end()
    },
  }
}
