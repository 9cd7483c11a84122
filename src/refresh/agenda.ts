/**
 * What is to be done when, behind one timer: the next due is at the top of a heap. The timer never
 * sleeps for long, since instants are planned by a clock that may be corrected meanwhile.
 */
import type { Clock } from '../ports.ts'

export interface Item {
  readonly at: number
  /** `undefined`: done, or crossed out. */
  run: (() => void) | undefined
}

const longestNapMs = 10_000
/** So many that are crossed out may lie about, or as many as there are others. */
const mostCrossedOut = 1_000

export class Agenda {
  readonly #clock: Clock
  readonly #detached: (run: () => void) => void
  #heap: Item[] = []
  #crossedOut = 0
  #nap: { readonly until: number; stop(): void } | undefined
  #closed = false

  /** `detached` runs it in the context in which the cache was made. */
  constructor(clock: Clock, detached: (run: () => void) => void) {
    this.#clock = clock
    this.#detached = detached
  }

  at(at: number, run: () => void): Item {
    const item: Item = { at, run }
    if (!this.#closed && this.#push(item) === 0) this.#sleep()
    return item
  }

  /** It stays where it is until its time: what is put off again and again must not pile up. */
  cross(item: Item): void {
    if (item.run === undefined) return
    item.run = undefined
    if (++this.#crossedOut < Math.max(mostCrossedOut, this.#heap.length / 2)) return
    const left = this.#heap.filter(({ run }) => run !== undefined)
    this.#heap = []
    this.#crossedOut = 0
    for (const one of left) this.#push(one)
  }

  /** How much is remembered. */
  get size(): number {
    return this.#heap.length
  }

  close(): void {
    this.#closed = true
    this.#crossedOut = 0
    this.#heap = []
    this.#nap?.stop()
    this.#nap = undefined
  }

  #sleep(): void {
    const [first] = this.#heap
    if (first === undefined) return
    const now = this.#clock.now()
    const until = Math.min(first.at, now + longestNapMs)
    if (this.#nap !== undefined && this.#nap.until <= until) return
    this.#nap?.stop()
    const stop = this.#clock.after(Math.max(0, Math.ceil(until - now)), () => {
      this.#nap = undefined
      this.#detached(() => this.#wake())
    })
    this.#nap = { until, stop }
  }

  #wake(): void {
    const now = this.#clock.now()
    while (this.#heap[0] !== undefined && this.#heap[0].at <= now) {
      const item = this.#pop()
      const { run } = item
      if (run === undefined) this.#crossedOut--
      // Done: to cross it out later is too late.
      item.run = undefined
      run?.()
    }
    if (!this.#closed) this.#sleep()
  }

  /** Where it came to lie. */
  #push(item: Item): number {
    const heap = this.#heap
    let n = heap.push(item) - 1
    while (n > 0) {
      const parent = (n - 1) >> 1
      if (heap[parent]!.at <= item.at) break
      heap[n] = heap[parent]!
      n = parent
    }
    heap[n] = item
    return n
  }

  #pop(): Item {
    const heap = this.#heap
    const top = heap[0]!
    const last = heap.pop()!
    if (heap.length === 0) return top
    let n = 0
    for (;;) {
      let child = 2 * n + 1
      if (child >= heap.length) break
      if (child + 1 < heap.length && heap[child + 1]!.at < heap[child]!.at) child++
      if (last.at <= heap[child]!.at) break
      heap[n] = heap[child]!
      n = child
    }
    heap[n] = last
    return top
  }
}
