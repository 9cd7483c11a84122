/**
 * A map whose entries end at an instant. What has ended is dropped when it is asked for, and by a
 * sweep that looks at a few more entries with every write: no timer, and never a long pause.
 */

interface Cell<Value> {
  readonly value: Value
  readonly until: number
}

/** Two looked at for each one written: what has ended goes faster than new entries come. */
const sweptPerWrite = 2

export class ExpiringMap<Value> {
  readonly #cells = new Map<string, Cell<Value>>()
  #sweeper = this.#cells.entries()

  get size(): number {
    return this.#cells.size
  }

  get(key: string, now: number): Value | undefined {
    return this.#alive(key, now)?.value
  }

  /** Until when it lives; `undefined`: it is not there. */
  until(key: string, now: number): number | undefined {
    return this.#alive(key, now)?.until
  }

  set(key: string, value: Value, until: number, now: number): void {
    this.#cells.set(key, { value, until })
    for (let n = 0; n < sweptPerWrite; n++) this.#sweepOne(now)
  }

  delete(key: string): void {
    this.#cells.delete(key)
  }

  #alive(key: string, now: number): Cell<Value> | undefined {
    const cell = this.#cells.get(key)
    if (cell === undefined || now < cell.until) return cell
    this.#cells.delete(key)
    return undefined
  }

  #sweepOne(now: number): void {
    const next = this.#sweeper.next()
    if (next.done === true) this.#sweeper = this.#cells.entries()
    else if (now >= next.value[1].until) this.#cells.delete(next.value[0])
  }
}
