/** What users give to `bullmqPrecompute`. Checked in queue-options.ts. */
import type { Cache, Duration } from '../api.ts'

export interface BullmqPrecomputeOptions {
  /** Made with `precompute: false`: BullMQ does that part. */
  cache: Cache
  /**
   * Of the queue's Redis, which may be another one than the cache's: what BullMQ takes. Options of
   * ioredis, or a client, which stays the user's; its `maxRetriesPerRequest` must be `null`.
   */
  connection: object
  /** Of the queue. Default `'refresh'`. */
  queue?: string | undefined
  /** Of BullMQ's keys. Default `'{breakwater:<namespace>}'`; the braces keep it in one slot of a cluster. */
  prefix?: string | undefined
  /**
   * Does this process load? `false`: it only asks for what is missing. `concurrency`: refreshes at
   * once. `stalledAfter`: whose worker has said nothing for so long is given to another; 1 s or more.
   * Default `{ concurrency: 16, stalledAfter: '5s' }`.
   */
  worker?:
    boolean | { concurrency?: number | undefined; stalledAfter?: Duration | undefined } | undefined
  /** So often a refresh is tried, before the next period does. Default `6`, or `alerts.failures` if that is more. */
  attempts?: number | undefined
  /**
   * How long until the next attempt. Default: exponential, from a twentieth of the period (or
   * `errorBackoff`) to a quarter of it, and short enough for `alerts.failures` attempts before the
   * entry ends.
   */
  backoff?: { type: 'fixed' | 'exponential'; delay: Duration } | undefined
  /** So many completed jobs are kept in Redis, for dashboards. Default `100`. */
  keepCompleted?: number | undefined
  /** Likewise of those that have failed for good. Default `1_000`. */
  keepFailed?: number | undefined
}
