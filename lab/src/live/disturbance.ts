// That somebody pressed a button, and when.

import type { ActionId } from './actions.ts'

export interface Disturbance {
  readonly action: ActionId
  /** The contender that ran. */
  readonly during: string
  /** Milliseconds since its start. */
  readonly atMs: number
}
