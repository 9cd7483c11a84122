/**
 * When to stop asking the store. Opens at once when an operation is overdue and nothing at all was
 * heard since it was sent (frozen, cut off); a slow reply among quick ones fails only itself, and
 * other faults count over a window. No clock of its own: instants are passed in.
 */
export class Breaker {
  #open = false
  #faults: number[] = []

  get isOpen(): boolean {
    return this.#open
  }

  /** An operation exceeded its deadline; was anything heard since it was sent? True: it has just opened. */
  overdue(heardSince: boolean, now: number): boolean {
    return heardSince ? this.fault(now) : this.trip()
  }

  /** An operation failed. True: the breaker has just opened. */
  fault(now: number): boolean {
    this.#faults.push(now)
    while (this.#faults[0]! <= now - windowMs) this.#faults.shift()
    return this.#faults.length >= faultsToOpen && this.trip()
  }

  /** True: it was closed. */
  trip(): boolean {
    const opened = !this.#open
    this.#open = true
    this.#faults = []
    return opened
  }

  close(): void {
    this.#open = false
    this.#faults = []
  }
}

const windowMs = 10_000
const faultsToOpen = 5
