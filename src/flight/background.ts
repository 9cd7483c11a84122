/**
 * Work that nobody awaits: refreshes, publishes, releases. None of it ends as an unhandled
 * rejection, and `idle()` and `close()` know when all of it is over.
 */
export class Background {
  readonly #work = new Set<Promise<unknown>>()
  readonly #onFault: (error: unknown) => void

  constructor(onFault: (error: unknown) => void) {
    this.#onFault = onFault
  }

  /** Returns a promise that settles with the work and never rejects. */
  track(work: Promise<unknown>): Promise<void> {
    const settled: Promise<void> = work.then(
      () => void this.#work.delete(settled),
      (error: unknown) => {
        this.#work.delete(settled)
        this.#onFault(error)
      },
    )
    this.#work.add(settled)
    return settled
  }

  /** Resolves when nothing is under way, whatever was begun meanwhile included. */
  async idle(): Promise<void> {
    while (this.#work.size > 0) await Promise.all(this.#work)
  }
}
