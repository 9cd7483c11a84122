// The database, the API: whatever is slow. It has so many places that work at full speed; when more
// loads run, all of them share these alike (processor sharing, as CPU-bound queries on a few cores
// do). One unit of service is a millisecond at full speed: what a load still has to get shrinks for
// all at the same pace, so the order in which they end is known when they begin.

import { Agenda } from './agenda.ts'

export interface Work {
  /** So many loads that began together. */
  readonly count: number
  readonly ms: number
  onEnd(): void
}

export class Source {
  readonly #places: number
  readonly #ends = new Agenda() // in service received, not in time
  #running = 0
  #most = 0
  #service = 0
  #now = 0

  constructor(places: number) {
    this.#places = places
  }

  /** When something last began or ended. */
  get now(): number {
    return this.#now
  }

  get running(): number {
    return this.#running
  }

  get most(): number {
    return this.#most
  }

  /** What a load takes now for each millisecond of work. */
  get slowdown(): number {
    return Math.max(1, this.#running / this.#places)
  }

  /** When the next load ends if nothing else begins. */
  get nextAt(): number {
    return this.#now + Math.max(0, this.#ends.nextAt - this.#service) * this.slowdown
  }

  begin(now: number, { count, ms, onEnd }: Work): void {
    this.#moveTo(now)
    this.#running += count
    this.#most = Math.max(this.#most, this.#running)
    this.#ends.at(this.#service + ms, () => {
      this.#running -= count
      onEnd()
    })
  }

  endNext(now: number): void {
    this.#moveTo(now)
    this.#service = Math.max(this.#service, this.#ends.nextAt)
    this.#ends.take()?.()
  }

  #moveTo(now: number): void {
    if (this.#running > 0) this.#service += (now - this.#now) / this.slowdown
    this.#now = now
  }
}
