/**
 * Writes of this process that the store has not yet confirmed. One that another write or an
 * invalidation overtakes is not kept in memory:
 *
 *   A writes;  B invalidates, A hears of it;  A's confirmation arrives: the store holds nothing any more.
 */
import type { Token } from '../ports.ts'

export interface PendingWrite {
  readonly id: Token
  outdated: boolean
  /** By what takes its value away, and puts none in its place. */
  undone: boolean
}

export class Writes {
  readonly #byKey = new Map<string, Set<PendingWrite>>()

  begin(key: string, id: Token): PendingWrite {
    const write: PendingWrite = { id, outdated: false, undone: false }
    let writes = this.#byKey.get(key)
    if (writes === undefined) this.#byKey.set(key, (writes = new Set()))
    writes.add(write)
    return write
  }

  end(key: string, write: PendingWrite): void {
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
