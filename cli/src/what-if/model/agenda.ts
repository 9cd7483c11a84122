// What is to happen, in the order of virtual time: a binary heap. Of two things at one instant the
// one that was planned first comes first, so that a run repeats itself.

interface Item {
  readonly at: number
  readonly order: number
  readonly run: () => void
}

export class Agenda {
  readonly #heap: Item[] = []
  #planned = 0

  get nextAt(): number {
    return this.#heap[0]?.at ?? Infinity
  }

  at(at: number, run: () => void): void {
    const heap = this.#heap
    const item = { at, order: this.#planned++, run }
    let hole = heap.length
    heap.push(item)
    while (hole > 0) {
      const parent = (hole - 1) >> 1
      if (!isBefore(item, heap[parent]!)) break
      heap[hole] = heap[parent]!
      hole = parent
    }
    heap[hole] = item
  }

  take(): (() => void) | undefined {
    const heap = this.#heap
    const first = heap[0]
    const last = heap.pop()
    if (first === undefined || last === undefined || heap.length === 0) return first?.run
    let hole = 0
    for (;;) {
      let child = hole * 2 + 1
      if (child >= heap.length) break
      if (child + 1 < heap.length && isBefore(heap[child + 1]!, heap[child]!)) child++
      if (!isBefore(heap[child]!, last)) break
      heap[hole] = heap[child]!
      hole = child
    }
    heap[hole] = last
    return first.run
  }
}

function isBefore(one: Item, other: Item): boolean {
  return one.at < other.at || (one.at === other.at && one.order < other.order)
}
