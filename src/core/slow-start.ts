/**
 * How much a server that has just come back is asked at once: little, and with each round of answers
 * twice as much (TCP's slow start, RFC 5681). One that is as quick as ever has all of it after a few
 * round trips; one that is not is not buried under what waited for it.
 */
const first = 16
const enough = 1_024

export class SlowStart {
  #window = first
  #open = 0
  /** In order; those before `#next` have gone. */
  #waiting: (() => void)[] = []
  #next = 0
  #isLetting = false

  get isOver(): boolean {
    return this.#window >= enough && this.#next === this.#waiting.length
  }

  /** `go` runs when there is room for it. */
  enter(go: () => void): void {
    this.#waiting.push(go)
    this.#let()
  }

  /** One that was let go has ended. */
  ended(answered: boolean): void {
    this.#open--
    if (answered) this.#window++
    this.#let()
  }

  #let(): void {
    // One that comes too late ends as it is let go: not as deep as there are of them.
    if (this.#isLetting) return
    this.#isLetting = true
    try {
      while (this.#open < this.#window && this.#next < this.#waiting.length) {
        this.#open++
        this.#waiting[this.#next++]!()
      }
    } finally {
      this.#isLetting = false
    }
    if (this.#next < this.#waiting.length) return
    this.#waiting = []
    this.#next = 0
  }
}
