/**
 * From a resource's argument to its entry's key, and on to the entry that memory holds. The places
 * of arguments that were asked for lately are remembered: the same argument again needs no key to
 * be made and hashed and no look into memory, which together cost more than all the rest of a hit.
 *
 * Memory drops what was used least lately. A place knows how many changes memory had seen when it
 * was last looked into (`Memory.changes`), and looks again after the next one, and one use in 17
 * looks anyway: of entries that are used between two changes, those used often count as newer.
 */
import { keyText, resourcePrefix, shortKey } from '../core/keys.ts'
import type { Memory } from '../ports.ts'
import { digest } from './digest.ts'
import type { Entry, Shortcut } from './entry.ts'
import type { ResolvedDefinition } from './options.ts'

const mostRemembered = 2_048
const longestRemembered = 64
/** With the look itself 17, a prime: in a round of arguments it must not always be the same one's turn. */
const usesPerLook = 16
/** Of all places, since the last look. */
let uses = 0

/** What one argument names. */
export class Place implements Shortcut {
  readonly key: string
  readonly #isKept: boolean
  #entry: Entry | undefined = undefined
  /** The entry's value, for all who ask: a promise for each costs as much as finding it. */
  #promise: Promise<unknown> | undefined = undefined
  #changes = -1

  constructor(key: string, isKept: boolean) {
    this.key = key
    this.#isKept = isKept
  }

  /** What memory holds. */
  held(memory: Memory<Entry>): Entry | undefined {
    if (this.#changes !== memory.changes || ++uses > usesPerLook) return this.#look(memory)
    return this.#entry
  }

  #look(memory: Memory<Entry>): Entry | undefined {
    uses = 0
    const entry = memory.get(this.key)
    if (!this.#isKept) return entry
    if (entry !== this.#entry) {
      if (entry !== undefined) entry.place = this
      this.#entry = entry
      this.#promise = undefined
    }
    this.#changes = memory.changes
    return entry
  }

  /** Resolved with the value, which is that of `entry`, or a copy of it. */
  answer(entry: Entry, value: unknown): Promise<unknown> {
    if (entry !== this.#entry || entry.value !== value) return Promise.resolve(value)
    return (this.#promise ??= Promise.resolve(value))
  }

  /** Nobody comes here any more. */
  forget(): void {
    if (this.#entry?.place === this) this.#entry.place = undefined
  }

  /** Memory has dropped it: nothing else may keep it alive. */
  leave(entry: Entry): void {
    if (entry !== this.#entry) return
    this.#entry = undefined
    this.#promise = undefined
  }
}

/** Throws `INVALID_KEY`. */
export function placeOf(definition: ResolvedDefinition['definition']): (arg: unknown) => Place {
  const prefix = resourcePrefix(definition.name, definition.version)
  const { key: named } = definition
  const keyFor = (name: unknown): string => shortKey(prefix + keyText(name), digest)
  const remembered = new Map<string | number, Place>()
  return (arg) => {
    const name = named === undefined ? arg : named(arg)
    const isShort = typeof name === 'string' && name.length <= longestRemembered
    if (!isShort && typeof name !== 'number') {
      return new Place(keyFor(name), false)
    }
    const known = remembered.get(name)
    if (known !== undefined) return known
    const place = new Place(keyFor(name), true)
    // All at once: no order to keep, and hot arguments are back at their next use.
    if (remembered.size >= mostRemembered) {
      for (const old of remembered.values()) old.forget()
      remembered.clear()
    }
    remembered.set(name, place)
    return place
  }
}
