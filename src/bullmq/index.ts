/**
 * `breakwater/bullmq`: values made before anyone asks, by BullMQ: its job schedulers say when, its
 * workers load. What a definition says in `precompute` is the same as without it.
 */
import { BullmqPrecompute } from './bullmq-precompute.ts'
import type { BullmqPrecomputeOptions } from './option-types.ts'
import { queueOptions } from './queue-options.ts'

export type { BullmqPrecomputeOptions } from './option-types.ts'

/** What makes a cache's values ahead, until it is closed. */
export interface BullmqPrecomputing {
  /** Connected, and every definition that there is has its scheduler. Rejects with `CLOSED` if it is closed before. */
  readonly ready: Promise<void>
  /**
   * Takes no more jobs; those under way end first. Also done by `cache.close()`, within its bound.
   * Never ends a client of the user's. Idempotent.
   */
  close(): Promise<void>
}

/**
 * Makes what has `precompute` by a queue of BullMQ, for definitions that are there and that are still
 * to come. A job is one refresh of one key, under the cache's own lease: once per period in the whole
 * fleet, tried again with growing delays, given to another worker when its own is killed.
 *
 * @throws BreakwaterError `INVALID_OPTION`.
 */
export function bullmqPrecompute(options: BullmqPrecomputeOptions): BullmqPrecomputing {
  return new BullmqPrecompute(queueOptions(options))
}
