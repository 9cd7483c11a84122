/** What users give to the guards. Checked in guard-options.ts. */
import type { Duration } from '../api.ts'

export interface MemoryGuardOptions<Arg> {
  /** How many ids it is made for; a whole number. With more of them it lets more through. */
  capacity: number
  /** Share of the ids that do not exist and are let through all the same, at `capacity`: 0 < p < 1. */
  errorRate: number
  /** What stands for an argument. Default: the argument itself. Not the `key` of a definition. */
  key?: ((arg: Arg) => unknown) | undefined
}

export interface RedisGuardOptions<Arg> extends MemoryGuardOptions<Arg> {
  /** Of ioredis (5, 6), iovalkey or node-redis (5, 6): single, Sentinel or cluster. Stays the user's. */
  client: object
  /** Of the filter, the same in every process: `[A-Za-z0-9._-]{1,64}`. */
  name: string
  /** Keep a copy in this process, which answers without a round trip. Default: `false`. */
  replica?: boolean | undefined
  /** How long `ask` waits for Redis before it lets an id through. Default: `100` (ms). */
  timeout?: Duration | undefined
}
