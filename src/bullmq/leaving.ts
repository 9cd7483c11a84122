/** This process ends: what has not begun is left to others, and what has is counted. */
export class Leaving {
  readonly #waiting = new Set<() => void>()
  #isOver = false
  #underWay = 0

  /** Jobs. */
  get underWay(): number {
    return this.#underWay
  }

  async during<T>(job: Promise<T>): Promise<T> {
    this.#underWay++
    try {
      return await job
    } finally {
      this.#underWay--
    }
  }

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
