/**
 * Protocols that are broken by intent: a checker that does not find them proves nothing. Each is a
 * layer around a part from outside; the engine's own code knows nothing of them.
 */
import type { BusMessage, Clock, Memory, StoreScope, StoreSession } from '../ports.ts'
import type { MemorySpace } from '../memory/memory-space.ts'
import { engineFlaws } from './engine-flaws.ts'
import { serverFlaws } from './server-flaws.ts'

/** What stands there instead of a part of the server. */
export interface WrongParts {
  readonly space: MemorySpace
  readonly clock: Clock
}

export interface Flaw {
  /** The server does something else. */
  readonly server?: (session: StoreSession, parts: WrongParts) => Partial<StoreSession>
  /** Messages that are never sent. */
  readonly loses?: (message: BusMessage) => boolean
  /** What the process's own session does otherwise. */
  readonly client?: (session: StoreSession, scope: StoreScope) => Partial<StoreSession>
  readonly memory?: <E>(memory: Memory<E>) => Memory<E>
  /** Changes the engine; returns what undoes it. */
  readonly engine?: () => () => void
}

export const flaws: Readonly<Record<string, Flaw>> = { ...serverFlaws, ...engineFlaws }
