/** This process ends: what has not begun is left to others. */
export class Leaving {
  readonly #waiting = new Set<() => void>()
  #isOver = false

  get isOver(): boolean {
    return this.#isOver
  }

  /** Gives what forgets it. */
  onLeave(leave: () => void): () => void {
    this.#waiting.add(leave)
    return () => void this.#waiting.delete(leave)
  }

  begin(): void {
    this.#isOver = true
    for (const leave of this.#waiting) leave()
    this.#waiting.clear()
  }
}
