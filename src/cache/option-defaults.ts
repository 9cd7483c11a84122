/** What holds when nothing is said, in the public notation. The documentation is compared with it. */

export const entryDefaults = {
  staleWhileRevalidate: 0,
  staleIfError: 0,
  softTimeout: false,
  loadTimeout: '30s',
  /** Follows `loadTimeout`. */
  waitTimeout: undefined,
  lease: '3s',
  negativeTtl: '30s',
  errorBackoff: '1s',
  errorTtl: 0,
  uncacheableFor: '5s',
  jitter: 0.1,
  earlyRefresh: { beta: 1, maxLead: 0.25 },
  values: 'freeze',
  compress: { over: '2KiB' },
  maxBytes: '8MiB',
  mode: 'normal',
  verify: false,
} as const

export const cacheDefaults = {
  storeTimeout: '100ms',
  connectTimeout: '2s',
  outageTtl: '5s',
  memory: { maxEntries: 10_000, maxBytes: '64MiB' },
  limit: { concurrency: 'adaptive', queue: '5s' },
  enabled: true,
  precompute: true,
} as const

/** What `'adaptive'` is. */
export const adaptive = { initial: 64, min: 8, max: 256 } as const
