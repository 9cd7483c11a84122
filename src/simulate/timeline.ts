/**
 * Virtual time: what is to happen, by instant and then by order. Between two events everything that
 * the first has set off comes to rest: Node runs all promise callbacks between two immediates, and
 * the engine knows no other way of going on than those and its clock.
 */
interface Happening {
  readonly at: number
  readonly order: number
  run: (() => void) | undefined
}

// Taken now: a test runner may replace the globals.
const { setImmediate } = globalThis
/** As many as one turn of the event loop takes. */
const perTurn = 100

export class Timeline {
  /** Milliseconds. */
  now = 0
  events = 0
  readonly #heap: Happening[] = []
  #made = 0

  /** Returns what cancels it. */
  at(at: number, run: () => void): () => void {
    const happening: Happening = { at: Math.max(at, this.now), order: this.#made++, run }
    this.#push(happening)
    return () => {
      happening.run = undefined
    }
  }

  after(ms: number, run: () => void): () => void {
    return this.at(this.now + ms, run)
  }

  /** Lets everything happen that is due until then, and comes to rest there. */
  runUntil(until: number): Promise<void> {
    return new Promise((resolve, reject) => {
      let over = false
      const step = (): void => {
        if (over) return
        const next = this.#next(until)
        if (next === undefined) {
          over = true
          this.now = Math.max(this.now, until)
          resolve()
          return
        }
        this.now = next.at
        this.events++
        try {
          next.run!()
        } catch (error) {
          over = true
          reject(error)
        }
      }
      const turn = (): void => {
        if (over) return
        for (let n = 0; n < perTurn; n++) setImmediate(step)
        setImmediate(turn)
      }
      turn()
    })
  }

  #next(until: number): Happening | undefined {
    const heap = this.#heap
    for (;;) {
      const [first] = heap
      if (first === undefined || first.at > until) return undefined
      this.#pop()
      if (first.run !== undefined) return first
    }
  }

  #push(happening: Happening): void {
    const heap = this.#heap
    let n = heap.length
    heap.push(happening)
    while (n > 0) {
      const parent = (n - 1) >> 1
      if (!isBefore(happening, heap[parent]!)) break
      heap[n] = heap[parent]!
      n = parent
    }
    heap[n] = happening
  }

  #pop(): void {
    const heap = this.#heap
    const last = heap.pop()!
    if (heap.length === 0) return
    let n = 0
    for (;;) {
      let child = 2 * n + 1
      if (child >= heap.length) break
      if (child + 1 < heap.length && isBefore(heap[child + 1]!, heap[child]!)) child++
      if (!isBefore(heap[child]!, last)) break
      heap[n] = heap[child]!
      n = child
    }
    heap[n] = last
  }
}

function isBefore(a: Happening, b: Happening): boolean {
  return a.at < b.at || (a.at === b.at && a.order < b.order)
}
