// What an API process is told by the main process, and what it reports. Instants are milliseconds
// of the wall clock with fractions, so that reports of several processes of one host line up.

import type { Health } from 'breakwater'
import type { ClientConfig } from 'pg'
import type { ContenderId } from '../contenders/contender.ts'
import type { RedisAddress } from '../servers/addresses.ts'

export interface ApiSettings {
  readonly contender: ContenderId
  /** Marks this run's sessions at the database. */
  readonly applicationName: string
  readonly database: ClientConfig
  readonly poolSize: number
  readonly redis: RedisAddress | undefined
  readonly namespace: string
  readonly ttlMs: number
  /** Added to the trending query by a sleep inside the database. */
  readonly extraQueryMs: number
  /** breakwater only; left out: its default. */
  readonly leaseMs?: number | undefined
}

export type ApiCommand =
  | { readonly kind: 'start'; readonly settings: ApiSettings }
  /** From now on the trending query takes so much longer than the settings say. */
  | { readonly kind: 'slow'; readonly moreMs: number }

/** What breakwater says of itself. */
export type StoreHealth = Pick<Health, 'store' | 'bus'>

export type ApiReport =
  | { readonly kind: 'listening'; readonly port: number }
  | { readonly kind: 'failed'; readonly reason: string }
  | {
      readonly kind: 'query-began'
      readonly query: number
      readonly at: number
      readonly reason: string | undefined
    }
  | { readonly kind: 'query-ended'; readonly query: number; readonly at: number }
  | { readonly kind: 'pool'; readonly at: number; readonly waiting: number }
  /** The contender's lease or lock on the hot key. */
  | { readonly kind: 'lease'; readonly change: LeaseChange; readonly at: number }
  | { readonly kind: 'health'; readonly health: StoreHealth }

export type LeaseChange = 'taken' | 'released'

export function wallClock(): number {
  return performance.timeOrigin + performance.now()
}
