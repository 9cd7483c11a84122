// What a cache must be able to do to meet a herd, and what it is given for that.

import type { Page } from '../measure/product.ts'

export interface Contender {
  get(key: string): Promise<Page>
  close(): Promise<unknown>
}

export interface ContenderSettings {
  /** Of Redis. */
  readonly url: string
  /** How long a value is fresh: whole seconds, since not every cache knows less. */
  readonly ttlMs: number
  /** How long it is served stale after that. */
  readonly staleMs: number
  load(key: string): Promise<Page>
}

export type MakeContender = (settings: ContenderSettings) => Promise<Contender>
