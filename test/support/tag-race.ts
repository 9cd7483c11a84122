// Processes on one store in virtual time, each behind a gate of its own: for races of changes by tag.

import { createCache, type CacheOptions, type Definition } from '../../src/index.ts'
import type { BusMessage } from '../../src/ports.ts'
import { manualClock, memoryStore } from '../../src/testing/index.ts'
import { gatedStore, type Common, type GatedStore } from './gated-store.ts'
import { SmallTags } from './small-tags.ts'

export interface Racer {
  readonly cache: ReturnType<typeof createCache>
  readonly link: GatedStore
  readonly heard: BusMessage[]
}

/** A source whose rows are versions, and whose reads can be kept waiting. */
export function tagRace(most?: { labels: number; marks: number }) {
  const clock = manualClock()
  const tags = new SmallTags(most)
  const common: Common = {
    inner: memoryStore(),
    tags,
    scopes: new Set(),
    now: () => clock.now(),
  }
  const loads: { readonly key: string; readonly seen: string; end(): void; fail(): void }[] = []
  const source = { value: 'old', slow: false }
  return {
    clock,
    tags,
    loads,
    source,
    async process(options: Partial<CacheOptions> = {}): Promise<Racer> {
      const heard: BusMessage[] = []
      const link = gatedStore(common, {
        sent: (message) => () => {
          heard.push(message)
        },
      })
      const cache = createCache({
        namespace: 'race',
        ttl: '10m',
        storeTimeout: '10s',
        loadTimeout: '1h',
        clock,
        store: link,
        ...options,
      })
      await clock.advance(10)
      return { cache, link, heard }
    },
    define(racer: Racer, options: Partial<Definition<string, string>> = {}) {
      return racer.cache.define<string, string>({
        name: 'item',
        load: (key) => {
          const seen = source.value
          if (!source.slow) return seen
          return new Promise<string>((resolve, reject) => {
            loads.push({
              key,
              seen,
              end: () => resolve(seen),
              fail: () => reject(new Error(`failed at ${seen}`)),
            })
          })
        },
        tags: ['t'],
        ...options,
      })
    },
  }
}
