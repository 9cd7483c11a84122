// What the coordinator of a fleet and its workers say to each other. Instants are milliseconds of
// the host's monotonic clock, which all its processes share.

import type { Tiers } from '../contenders/contender.ts'

export interface WorkerSettings {
  readonly contender: string
  readonly tiers: Tiers
  readonly url: string
  readonly ttlMs: number
  readonly staleMs: number
  readonly loadMs: number
  readonly patient: boolean
}

/** `callers` reads of one key in one tick. */
export interface HerdOrder {
  readonly kind: 'herd'
  readonly key: string
  readonly callers: number
  readonly at: number
}

/** Reads of keys by popularity, at random instants. */
export interface TrafficOrder {
  readonly kind: 'traffic'
  readonly at: number
  readonly seconds: number
  readonly perSecond: number
  readonly keys: number
  readonly seed: number
  /** Spin towards each instant: exact, but it takes a whole core. Else timers are up to 1 ms late. */
  readonly exact: boolean
}

export type Order =
  | { readonly kind: 'start'; readonly settings: WorkerSettings }
  /** One read of each key, as any page view before what is measured. */
  | { readonly kind: 'read'; readonly keys: readonly string[] }
  | HerdOrder
  | TrafficOrder
  | { readonly kind: 'stop' }

/** Latencies run from the instant that was intended, not from when the process got to it. */
export interface Answers {
  readonly kind: 'answers'
  readonly latencies: readonly number[]
  readonly errors: readonly string[]
  /** Processor time of the process meanwhile. */
  readonly cpuMs: number
}

export type Reply =
  { readonly kind: 'done' } | { readonly kind: 'failed'; readonly reason: string } | Answers

export function now(): number {
  return Number(process.hrtime.bigint()) / 1e6
}

/** A hash: how often each key was loaded, by whichever process. */
export const loadsKey = 'bench-loads'
