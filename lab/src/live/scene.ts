// What is on at this moment: a fleet under load, and what may be done to it. Whoever runs one says
// so here; whoever looks on reads it and changes nothing.

import type { ContenderId } from '../contenders/contender.ts'
import type { Fleet } from '../run/fleet.ts'

export interface Scene {
  readonly kind: 'contender' | 'fault' | 'play'
  readonly title: string
  readonly contender: ContenderId
  readonly fleet: Fleet
  readonly startedAt: number
  /** That filled the cache. */
  readonly queriesBefore: number
  /** Left out: until somebody ends it. */
  readonly durationMs?: number | undefined
  /** When the run itself writes, in milliseconds since its start. */
  readonly writeAtMs?: number | undefined
  /** Takes requests from now on. */
  addPort(port: number): void
}
