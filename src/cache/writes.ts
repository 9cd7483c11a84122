/**
 * Writes of this process that the store has not yet confirmed. One that another write or an
 * invalidation overtakes is not kept in memory:
 *
 *   A writes;  B invalidates, A hears of it;  A's confirmation arrives: the store holds nothing any more.
 *
 * The store is sent them in the order of their calls, although a big one takes a while to get ready.
 */
import type { Token } from '../ports.ts'

export interface PendingWrite {
  readonly id: Token
  outdated: boolean
  /** By what takes its value away, and puts none in its place. */
  undone: boolean
  isSent: boolean
  /** Those that were called later. */
  readonly followers: (() => void)[]
}

export class Writes {
  readonly #byKey = new Map<string, Set<PendingWrite>>()

  begin(key: string, id: Token): PendingWrite {
    const write: PendingWrite = {
      id,
      outdated: false,
      undone: false,
      isSent: false,
      followers: [],
    }
    let writes = this.#byKey.get(key)
    if (writes === undefined) this.#byKey.set(key, (writes = new Set()))
    writes.add(write)
    return write
  }

  /** When all that were called earlier have been sent, or have ended. `undefined`: they have. */
  turn(key: string, write: PendingWrite): Promise<unknown> | undefined {
    const earlier: Promise<void>[] = []
    for (const one of this.#byKey.get(key) ?? []) {
      if (one === write) break
      if (!one.isSent) earlier.push(new Promise((resolve) => one.followers.push(resolve)))
    }
    return earlier.length === 0 ? undefined : Promise.all(earlier)
  }

  sent(write: PendingWrite): void {
    write.isSent = true
    for (const go of write.followers.splice(0)) go()
  }

  end(key: string, write: PendingWrite): void {
    this.sent(write)
    const writes = this.#byKey.get(key)
    writes?.delete(write)
    if (writes?.size === 0) this.#byKey.delete(key)
  }

  /** Something else happened to the key; `id` is what did it. */
  outdate(key: string, id: Token, by: 'write' | 'change'): void {
    for (const write of this.#byKey.get(key) ?? []) {
      if (write.id === id) continue
      write.outdated = true
      if (by === 'change') write.undone = true
    }
  }
}
