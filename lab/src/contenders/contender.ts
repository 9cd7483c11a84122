// What every contender is: a cache in front of one slow query. They differ in nothing else.

import type { LeaseChange, StoreHealth } from '../api/messages.ts'
import type { Cache } from 'breakwater'
import type { Trending } from '../shop/queries.ts'

export const contenderIds = [
  'plain',
  'lock-retry',
  'lock-poll',
  'breakwater',
  'breakwater-swr',
  'breakwater-ahead',
] as const
export type ContenderId = (typeof contenderIds)[number]

/** `reason`: why it is loaded, where the contender knows. */
export type Load = (category: string, reason?: string) => Promise<Trending>

/** Told when this process takes the lease or lock on the hot key, and when it lets go. */
export type OnLease = (change: LeaseChange) => void

export interface Contender {
  trending(category: string): Promise<Trending>
  /** After a write: what is cached is wrong now. */
  invalidate(category: string): Promise<void>
  /** breakwater only. */
  health?(): StoreHealth
  /** breakwater only: what its metrics are of. */
  readonly cache?: Cache
}

export const contenderNames: Readonly<Record<ContenderId, { title: string; how: string }>> = {
  plain: {
    title: 'no protection',
    how: 'cache-aside: GET, on a miss query and SET',
  },
  'lock-retry': {
    title: 'lock, one retry',
    how: 'SET NX PX 5 s; losers take the stale copy, else wait 120 ms, look again, then query',
  },
  'lock-poll': {
    title: 'lock, 50 ms poll',
    how: 'SET NX PX 5 s; losers look again every 50 ms',
  },
  breakwater: {
    title: 'breakwater',
    how: 'defaults: only namespace, store and ttl are set',
  },
  'breakwater-swr': {
    title: 'breakwater + SWR',
    how: 'the same with staleWhileRevalidate',
  },
  'breakwater-ahead': {
    title: 'breakwater ahead',
    how: 'precompute: made anew once per ttl by schedule, asked or not; requests never load, and wait for what is not there; a value lives three such periods, so that a refresh may be missed',
  },
}
