/**
 * Who is at work on which key in this process. At most one flight per key can be joined; one that
 * an invalidation reached is detached: it answers those who had joined, and nobody else. Loads of a
 * key are counted, so that never more than two of them run here: an invalidated one and a current.
 *
 * Invariant: whoever adds a flight removes it, by identity.
 */
import { deferred } from './deferred.ts'
import type { Flight } from './flight.ts'

interface Slot<A, W> {
  current: Flight<A, W> | undefined
  readonly all: Set<Flight<A, W>>
  readonly loads: Set<Promise<unknown>>
}

export class Flights<A, W> {
  readonly #slots = new Map<string, Slot<A, W>>()

  get size(): number {
    return this.#slots.size
  }

  current(key: string): Flight<A, W> | undefined {
    return this.#slots.get(key)?.current
  }

  /** From now on the one to join. */
  add(flight: Flight<A, W>): void {
    const slot = this.#slot(flight.key)
    slot.current = flight
    slot.all.add(flight)
  }

  /** Never to be joined. */
  addAlone(flight: Flight<A, W>): void {
    this.#slot(flight.key).all.add(flight)
  }

  /** Nobody joins it any more; it goes on for those who did. */
  detach(flight: Flight<A, W>): void {
    const slot = this.#slots.get(flight.key)
    if (slot?.current === flight) slot.current = undefined
  }

  remove(flight: Flight<A, W>): void {
    const slot = this.#slots.get(flight.key)
    if (slot === undefined) return
    if (slot.current === flight) slot.current = undefined
    slot.all.delete(flight)
    this.#drop(flight.key, slot)
  }

  /**
   * The key was invalidated, expired or written: what flights have seen of it so far is outdated.
   * One that only waits or queues has seen nothing yet, and stays the one to join. After `expire`
   * the older value may still cover and be renewed, after all else it may not.
   */
  outdate(key: string, how: 'expired' | 'gone'): void {
    const slot = this.#slots.get(key)
    if (slot === undefined) return
    for (const flight of slot.all) {
      flight.outdated = true
      flight.controls.outdated?.(how)
    }
    if (slot.current?.hasSeen === true) slot.current = undefined
  }

  /** Would one more load of this key have to wait for another? */
  isCrowded(key: string): boolean {
    return (this.#slots.get(key)?.loads.size ?? 0) >= 2
  }

  /** Resolves when one more load of this key may begin: at once, but for a third. */
  async mayLoad(key: string): Promise<void> {
    for (;;) {
      const loads = this.#slots.get(key)?.loads
      if (loads === undefined || loads.size < 2) return
      await loads.values().next().value
    }
  }

  /** The same, and the turn is taken in the same step: returns what ends it. */
  async turn(key: string): Promise<() => void> {
    for (;;) {
      const slot = this.#slot(key)
      if (slot.loads.size < 2) return this.#take(key, slot)
      await slot.loads.values().next().value
    }
  }

  #take(key: string, slot: Slot<A, W>): () => void {
    const { promise, resolve } = deferred<void>()
    slot.loads.add(promise)
    return () => {
      if (!slot.loads.delete(promise)) return
      resolve()
      this.#drop(key, slot)
    }
  }

  *[Symbol.iterator](): Iterator<Flight<A, W>> {
    for (const slot of this.#slots.values()) yield* slot.all
  }

  #slot(key: string): Slot<A, W> {
    let slot = this.#slots.get(key)
    if (slot === undefined) {
      slot = { current: undefined, all: new Set(), loads: new Set() }
      this.#slots.set(key, slot)
    }
    return slot
  }

  #drop(key: string, slot: Slot<A, W>): void {
    if (slot.all.size === 0 && slot.loads.size === 0 && this.#slots.get(key) === slot) {
      this.#slots.delete(key)
    }
  }
}
