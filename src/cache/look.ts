/**
 * One read of the store per key and process, shared by all who ask meanwhile. A look that an
 * invalidation overtakes may be returned to those who had joined it; it is never kept:
 *
 *   A's GET is answered with the old frame;  B invalidates, A hears of it;  A's reply arrives.
 *
 * A frame is held against what is known of its tags before anything is done with it. Where that is
 * not current it is asked for in the same turn; where it cannot be had, the frame is not used.
 */
import { deepFreeze } from '../core/freeze.ts'
import { openFrame } from '../core/frame.ts'
import type { Label } from '../core/labels.ts'
import { bounded } from '../core/lifetime.ts'
import type { Token } from '../ports.ts'
import { decoded, crc } from './values.ts'
import { Entry, localHead } from './entry.ts'
import { usesMemory, type Engine, type Source } from './engine.ts'
import { keep, newEntry } from './keep.ts'
import { currentTags, lookUpTags } from './tag-changes.ts'

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

interface Look {
  /** Let go of at the end: a map that has grown leaves dead tables behind, which hold what it held. */
  promise: Promise<Found> | undefined
  /** Of many at once, of which it is the `n`th: its own promise is made only if somebody joins. */
  many: Promise<readonly Found[]> | undefined
  readonly n: number
  outdated: boolean
}

export class Looks {
  readonly #byKey = new Map<string, Look>()

  /** `known`: what memory holds of it, so that the same frame need not be decoded again. */
  at(engine: Engine, source: Source, key: string, known: Entry | undefined): Promise<Found> {
    const running = this.#byKey.get(key)
    if (running?.promise !== undefined) return running.promise
    if (running?.many !== undefined) {
      const { many, n } = running
      return (running.promise = many.then((all) => all[n]!))
    }
    const look: Look = { promise: undefined, many: undefined, n: 0, outdated: false }
    const taking = this.#taking(engine, source, { key, known, look })
    look.promise = engine.store!.read(key, taking.take, taking.lost)
    this.#byKey.set(key, look)
    return look.promise
  }

  /** At many keys of which memory holds nothing, in one round trip. */
  atMany(engine: Engine, source: Source, keys: readonly string[]): Promise<readonly Found[]> {
    const looks: Look[] = []
    const takings = keys.map((key, n) => {
      const look: Look = { promise: undefined, many: undefined, n, outdated: false }
      looks.push(look)
      return this.#taking(engine, source, { key, known: undefined, look })
    })
    const many = engine.store!.readMany(
      keys,
      (bytes, n) => takings[n]!.take(bytes),
      (n) => takings[n]!.lost(),
    )
    for (const [n, look] of looks.entries()) {
      look.many = many
      this.#byKey.set(keys[n]!, look)
    }
    return many
  }

  isLooking(key: string): boolean {
    return this.#byKey.has(key)
  }

  #taking(
    engine: Engine,
    source: Source,
    at: { readonly key: string; readonly known: Entry | undefined; readonly look: Look },
  ): {
    take(bytes: Uint8Array | undefined): Found | Promise<Found>
    lost(): Found
  } {
    const { key, known, look } = at
    const { trust } = engine.hearing
    const end = <T>(found: T): T => {
      if (this.#byKey.get(key) === look) this.#byKey.delete(key)
      look.promise = undefined
      look.many = undefined
      return found
    }
    const take = (bytes: Uint8Array | undefined, again = false): Found | Promise<Found> => {
      if (bytes === undefined) {
        if (known !== undefined && engine.memory?.get(key) === known) engine.memory.delete(key)
        return end(none)
      }
      const { outdated } = look
      const entry = takeIn(engine, source, key, { bytes, known, trust, outdated })
      if (entry instanceof Entry) {
        return end({ type: 'entry', entry, outdated, changes: engine.changes })
      }
      if (entry.why === 'unknown' && !again) {
        return lookUpTags(engine, entry.labels).then(
          () => take(bytes, true),
          () => end(unreadable),
        )
      }
      return end(entry.why === 'gone' ? { type: 'none', seen: entry.stamp } : unreadable)
    }
    const current = currentTags(engine)
    return {
      lost: () => end(gone),
      take: (bytes) => {
        if (current === undefined) return take(bytes)
        return current.then(
          () => take(bytes),
          () => end(bytes === undefined ? none : unreadable),
        )
      },
    }
  }

  outdate(key: string): void {
    const look = this.#byKey.get(key)
    if (look === undefined) return
    look.outdated = true
    this.#byKey.delete(key)
  }
}

/**
 * Has something changed since it was read? Of any key: between a look's end and its reader's next
 * step lie only microtasks, and a cover lost by mistake costs less than an invalidated value kept.
 */
export function isOvertaken(engine: Engine, found: Found & { type: 'entry' }): boolean {
  return found.outdated || found.changes !== engine.changes
}

export interface Taken {
  readonly bytes: Uint8Array
  readonly known: Entry | undefined
  /** Count of gaps in hearing when the bytes were asked for. */
  readonly trust: number
  /** An invalidation came since: not to be kept. */
  readonly outdated: boolean
}

/** Why a frame is not used: bytes that cannot be read, or a change by tag. */
export type Refused =
  | { readonly why: 'unreadable' }
  | { readonly why: 'gone'; readonly stamp: Token }
  /** These labels must be looked up first. */
  | { readonly why: 'unknown'; readonly labels: readonly Label[] }

const refused: Refused = { why: 'unreadable' }

/** A frame becomes an entry of this process. Unreadable ones are a miss, and an event. */
export function takeIn(engine: Engine, source: Source, key: string, taken: Taken): Entry | Refused {
  const { rules, counters, name } = source
  const { known, trust } = taken
  const failed = (why: string): Refused => {
    counters.unreadable++
    engine.listeners.tell('unreadable', () => ({ name, key, why }))
    return refused
  }
  const opened = openFrame(taken.bytes, crc)
  if (opened.type === 'unreadable') return failed(opened.why)
  const { payload } = opened
  if (opened.codec !== rules.codec.id && opened.head.uncacheable === undefined)
    return failed('codec')
  const now = engine.clock.now()
  const { offsetMs } = engine.hearing
  const verdict = engine.tags.judge(opened.head, source.labels, key, now + offsetMs)
  if (verdict === 'gone') return { why: 'gone', stamp: opened.head.stamp }
  if (verdict === 'unknown')
    return { why: 'unknown', labels: [...source.labels, ...opened.head.tags] }
  const { tick } = engine.tags
  const head = localHead(
    verdict === undefined ? opened.head : bounded(opened.head, verdict),
    offsetMs,
    now,
  )
  if (!taken.outdated && known !== undefined && known.stamp === head.stamp) {
    const { memoryTtlMs } = engine
    known.confirm({ freshUntil: head.freshUntil, now, memoryTtlMs, trust, tick })
    return known
  }
  let value: unknown
  let meta: unknown
  try {
    // Where each caller decodes its own copy, too: bytes that cannot be read are a miss here, not there.
    if (head.uncacheable === undefined) value = decoded(payload, rules)
    if (rules.values === 'clone') value = undefined
    if (head.meta !== undefined) meta = deepFreeze(rules.codec.decode(head.meta))
  } catch {
    return failed('undecodable')
  }
  const entry = newEntry(engine, rules, {
    head,
    value,
    meta,
    // A copy: the bytes may be a slice of what the client received at once.
    payload:
      rules.values === 'clone' && head.uncacheable === undefined
        ? new Uint8Array(payload)
        : undefined,
    codec: rules.codec,
    size: payload.length,
    now,
    trust,
    tick,
  })
  const mayKeep = !taken.outdated && engine.store?.session.fromReplica !== true
  if (mayKeep && usesMemory(engine, rules)) keep(engine, key, entry)
  return entry
}
