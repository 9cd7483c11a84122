// What holds where nothing is said: breakwater's own defaults for breakwater, the usual numbers of
// the recipes for the recipes.

import type { Rules } from './model/scenario.ts'

export const defaultRules: Rules = {
  ttlMs: 60_000,
  jitter: 0.1,
  staleWhileRevalidateMs: 0,
  staleIfErrorMs: 0,
  errorBackoffMs: 1000,
  leaseMs: 3000,
  earlyRefresh: { beta: 1, maxLead: 0.25 },
  memory: true,
  // `limit: { concurrency: 'adaptive' }` begins with 64; the model does not let it learn.
  limit: { places: 64, queueMs: 5000, perSecond: Infinity },
  lock: { lifeMs: 5000, pollMs: 50, retryMs: 120, staleTtls: 10 },
}
