/**
 * Protocols that are broken by intent: a checker that does not find them proves nothing. Each is a
 * layer around a part from outside; the engine's own code knows nothing of them.
 */
import type { BusMessage, StoreScope, StoreSession } from '../ports.ts'
import type { Wrong } from './server.ts'

export interface Flaw {
  /** The server does something else. */
  readonly server?: Wrong
  /** Messages that are never sent. */
  loses?(message: BusMessage): boolean
  readonly scope?: (scope: StoreScope) => StoreScope
  /** What the process's own session does otherwise. */
  readonly client?: (session: StoreSession, scope: StoreScope) => Partial<StoreSession>
  /** Changes the engine; returns what undoes it. */
  engine?(): () => void
}
