/**
 * A master that became a replica under its old address (a managed failover behind a name, T094)
 * refuses writes for as long as the connection to it lives, and the client sees no reason to leave
 * it: so it is told to look for the master anew. Rarely, since a new connection fails what is under
 * way on the old one, and it may be that no server takes writes: 5 s apart, then longer and longer,
 * until a write is taken.
 */
import type { Clock } from '../ports.ts'

const firstPauseMs = 5_000
const mostPauseMs = 60_000

export class Demotion {
  readonly #clock: Clock
  readonly #findMaster: () => void
  #lookedAt = -Infinity
  #pauseMs = 0
  #jitter = 1
  #stop = (): void => {}

  constructor(clock: Clock, findMaster: () => void) {
    this.#clock = clock
    this.#findMaster = findMaster
  }

  /** What was asked met a replica. */
  refused(): void {
    const now = this.#clock.now()
    if (now - this.#lookedAt < this.#pauseMs * this.#jitter) return
    this.#lookedAt = now
    this.#pauseMs = Math.min(Math.max(this.#pauseMs * 2, firstPauseMs), mostPauseMs)
    // Not in step with the other processes.
    this.#jitter = 1 + this.#clock.random() / 4
    // When whoever wrote has been told why it was refused, and not that the connection was lost.
    this.#stop = this.#clock.after(0, this.#findMaster)
  }

  /** A write was taken. */
  accepted(): void {
    this.#pauseMs = Math.min(this.#pauseMs, firstPauseMs)
  }

  close(): void {
    this.#stop()
  }
}
