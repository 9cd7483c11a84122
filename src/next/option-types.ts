/** What users give to the handlers of Next.js. Checked in options.ts. */
import type { Cache, Duration } from '../api.ts'

interface Common {
  /**
   * Of `createCache`, or what makes it. A function is called once, by the first request, however many
   * handlers are given it; and never while `next build` runs: then nothing connects.
   */
  cache: Cache | (() => Cache)
  /** What separates these entries from those of another handler on the same cache: `[A-Za-z0-9._-]{1,64}`. */
  name?: string | undefined
  /** How long a request waits for the render of another one, here or in another instance; then it renders itself. Default `'5s'`. */
  wait?: Duration | undefined
  /**
   * How long a render that stores nothing (it failed, or its answer is not to be kept) holds its key;
   * more than the slowest render takes. Default `'60s'`.
   */
  renderTimeout?: Duration | undefined
  /** The most that an entry is fresh, whatever Next.js says; then the next request renders it. Default `'30d'`. */
  keep?: Duration | undefined
}

export interface NextCacheOptions extends Common {
  /** How long past its `revalidate`, or after `revalidateTag` with a profile, an entry is still served while it is made anew. Default `'1d'`. */
  stale?: Duration | undefined
  /**
   * Rendered pages and route handlers are of one version: another never sees them. Default: the build
   * id of Next.js. `false`: all builds share them. Data (`fetch`, `unstable_cache`) and images are
   * always shared.
   */
  version?: string | false | undefined
}

export interface NextUseCacheOptions extends Common {
  /** How long past its `revalidate`, or after `revalidateTag` with a profile, an entry is still served while it is made anew. Default `'1h'`. */
  stale?: Duration | undefined
}
