/**
 * One read of the store per key and process, shared by all who ask meanwhile. A look that an
 * invalidation overtakes may be returned to those who had joined it; it is never kept:
 *
 *   A's GET is answered with the old frame;  B invalidates, A hears of it;  A's reply arrives.
 *
 * A frame is held against what is known of its tags before anything is done with it. Where that is
 * not current it is asked for in the same turn; where it cannot be had, the frame is not used.
 */
import { after } from '../core/after.ts'
import type { Token } from '../ports.ts'
import type { Engine, Source } from './engine.ts'
import { Entry } from './entry.ts'
import { currentTags, lookUpTags } from './tag-changes.ts'
import { takeIn } from './take-in.ts'
import { isOutOfReach, unpack, type Unpacked, type Unread } from './unpack.ts'

/** `seen`: for ACQUIRE. `gone`: the store could not be asked. */
export type Found =
  | {
      readonly type: 'entry'
      readonly entry: Entry
      readonly outdated: boolean
      /** `Engine.changes` when it was read. */
      readonly changes: number
    }
  | { readonly type: 'none'; readonly seen: Token | 'unreadable' | undefined }
  | { readonly type: 'gone' }

const gone: Found = { type: 'gone' }
const none: Found = { type: 'none', seen: undefined }
const unreadable: Found = { type: 'none', seen: 'unreadable' }

/** One key that is being looked at, and what must be known when its bytes come. */
class Look {
  readonly key: string
  /** What memory holds of it, so that the same frame need not be decoded again. */
  readonly known: Entry | undefined
  /** Count of gaps in hearing when the bytes were asked for. */
  readonly trust: number
  /** Let go of at the end: a map that has grown leaves dead tables behind, which hold what it held. */
  promise: Promise<Found> | undefined = undefined
  /** Of many at once, of which it is the `n`th: its own promise is made only if somebody joins. */
  many: Promise<readonly (Found | undefined)[]> | undefined = undefined
  n = 0
  outdated = false
  /** Its bytes were judged: nobody joins any more, since a change that he has made may have come since. */
  taken = false

  constructor(key: string, known: Entry | undefined, trust: number) {
    this.key = key
    this.known = known
    this.trust = trust
  }
}

export class Looks {
  #byKey = new Map<string, Look>()

  at(engine: Engine, source: Source, key: string, known: Entry | undefined): Promise<Found> {
    const running = this.#running(key)
    if (running !== undefined) {
      return (running.promise ??= running.many!.then((all) => all[running.n]!))
    }
    const look = new Look(key, known, engine.hearing.trust)
    const current = currentTags(engine)
    this.#byKey.set(key, look)
    look.promise = engine.store!.read(
      key,
      (bytes) => {
        const found = takeCurrent(engine, source, look, { bytes, current })
        if (!(found instanceof Promise)) return this.#end(look, found)
        return found.then((late) => this.#end(look, late))
      },
      () => this.#end(look, gone),
    )
    return look.promise
  }

  /**
   * At many keys of which memory holds nothing, in one round trip. In their order; `undefined` for
   * those that somebody looks at already, as for a key that comes again.
   */
  async atMany(
    engine: Engine,
    source: Source,
    keys: readonly string[],
  ): Promise<readonly (Found | undefined)[]> {
    const { trust } = engine.hearing
    const current = currentTags(engine)
    const looks: Look[] = []
    const looked = keys.map((key) => {
      if (this.#running(key) !== undefined) return undefined
      const look = new Look(key, undefined, trust)
      this.#byKey.set(key, look)
      looks.push(look)
      return look
    })
    const parts = engine.store!.parts(looks, ({ key }) => key)
    if (parts.length === 1) {
      const found = await this.#askFor(engine, source, looks, current)
      return looks.length === keys.length ? found : looked.map((look) => look && found[look.n])
    }
    const founds = await Promise.all(
      parts.map((part) => this.#askFor(engine, source, part, current)),
    )
    const byLook = new Map<Look | undefined, Found>()
    for (const [at, part] of parts.entries()) {
      for (const look of part) byLook.set(look, founds[at]![look.n]!)
    }
    return looked.map((look) => byLook.get(look))
  }

  /** For what one server keeps: its own answer, which waits for no other. */
  #askFor(
    engine: Engine,
    source: Source,
    looks: readonly Look[],
    current: Promise<void> | undefined,
  ): Promise<readonly Found[]> {
    const asked = engine.store!.readMany<Found>(
      looks.map(({ key }) => key),
      (bytes, n) => {
        const look = looks[n]!
        const found = takeCurrent(engine, source, look, { bytes, current })
        if (found instanceof Promise) return found.finally(() => (look.taken = true))
        look.taken = true
        return found
      },
      () => gone,
    )
    // Who joins is told after the batch: what is missing is loaded with it.
    const many = asked.then((found) => {
      this.#endAll(looks)
      return found
    })
    for (let n = 0; n < looks.length; n++) {
      looks[n]!.n = n
      looks[n]!.many = many
    }
    return many
  }

  /** The look that one who comes now may join. */
  #running(key: string): Look | undefined {
    const look = this.#byKey.get(key)
    if (look?.taken !== true) return look
    // Whoever comes looks again, and takes its place.
    this.outdate(key)
    return undefined
  }

  outdate(key: string): void {
    const look = this.#byKey.get(key)
    if (look === undefined) return
    look.outdated = true
    this.#byKey.delete(key)
  }

  /** Most often nobody looks at anything else, and there is no need to take them out one by one. */
  #endAll(looks: readonly Look[]): void {
    const { size } = this.#byKey
    const areAll = size === looks.length && !looks.some(({ outdated }) => outdated)
    if (areAll) this.#byKey = new Map()
    for (const look of looks) {
      if (!areAll) this.#end(look, gone)
      look.many = undefined
    }
  }

  #end(look: Look, found: Found): Found {
    if (this.#byKey.get(look.key) === look) {
      this.#byKey.delete(look.key)
      // A table that has come to old space makes the collector keep all that is put into it, and
      // look after it: 2 µs for each read under load.
      if (this.#byKey.size === 0) this.#byKey = new Map()
    }
    look.promise = undefined
    return found
  }
}

type Bytes = Uint8Array | undefined

function takeCurrent(
  engine: Engine,
  source: Source,
  look: Look,
  got: { readonly bytes: Bytes; readonly current: Promise<void> | undefined },
): Found | Promise<Found> {
  const { bytes, current } = got
  if (current === undefined) return take(engine, source, look, bytes)
  return current.then(
    () => take(engine, source, look, bytes),
    () => (bytes === undefined ? none : unreadable),
  )
}

function take(engine: Engine, source: Source, look: Look, bytes: Bytes): Found | Promise<Found> {
  const { key, known } = look
  if (bytes === undefined) {
    if (known !== undefined && engine.memory?.get(key) === known) engine.memory.delete(key)
    return none
  }
  return after(unpack(engine, source, { key, bytes, known }), (unpacked) =>
    judge(engine, source, look, unpacked),
  )
}

function judge(
  engine: Engine,
  source: Source,
  look: Look,
  unpacked: Unpacked | Unread,
): Found | Promise<Found> {
  // The store went while its body was fetched: what memory has may cover.
  if (unpacked.type === 'unread' && isOutOfReach(engine, look.key, unpacked)) return gone
  const got = takeIn(engine, source, unpacked, look)
  if (got instanceof Entry) return entryFound(engine, look, got)
  if (got.why !== 'unknown') {
    return got.why === 'gone' ? { type: 'none', seen: got.stamp } : unreadable
  }
  return lookUpTags(engine, got.labels).then(
    () => {
      const again = takeIn(engine, source, unpacked, look)
      return again instanceof Entry ? entryFound(engine, look, again) : unreadable
    },
    () => unreadable,
  )
}

function entryFound(engine: Engine, { outdated }: Look, entry: Entry): Found {
  return { type: 'entry', entry, outdated, changes: engine.changes }
}

/**
 * Has something changed since it was read? Of any key: between a look's end and its reader's next
 * step lie only microtasks, and a cover lost by mistake costs less than an invalidated value kept.
 */
export function isOvertaken(engine: Engine, found: Found & { type: 'entry' }): boolean {
  return found.outdated || found.changes !== engine.changes
}
