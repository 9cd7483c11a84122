/**
 * One read of the store per key and process, shared by all who ask meanwhile. A look that an
 * invalidation overtakes may be returned to those who had joined it; it is never kept:
 *
 *   A's GET is answered with the old frame;  B invalidates, A hears of it;  A's reply arrives.
 */
import { deepFreeze } from '../core/freeze.ts'
import { openFrame } from '../core/frame.ts'
import { decoded, crc } from './values.ts'
import { localHead, type Entry } from './entry.ts'
import { usesMemory, type Engine, type Source } from './engine.ts'
import { keep, newEntry } from './keep.ts'

/** `seen`: for ACQUIRE. `gone`: the store could not be asked. */
export type Found =
  | {
      readonly type: 'entry'
      readonly entry: Entry
      readonly outdated: boolean
      /** `Engine.changes` when it was read. */
      readonly changes: number
    }
  | { readonly type: 'none'; readonly seen: 'unreadable' | undefined }
  | { readonly type: 'gone' }

const gone: Found = { type: 'gone' }
const none: Found = { type: 'none', seen: undefined }
const unreadable: Found = { type: 'none', seen: 'unreadable' }

interface Look {
  /** Let go of at the end: a map that has grown leaves dead tables behind, which hold what it held. */
  promise: Promise<Found> | undefined
  outdated: boolean
}

export class Looks {
  readonly #byKey = new Map<string, Look>()

  /** `known`: what memory holds of it, so that the same frame need not be decoded again. */
  at(engine: Engine, source: Source, key: string, known: Entry | undefined): Promise<Found> {
    const running = this.#byKey.get(key)
    if (running?.promise !== undefined) return running.promise
    const look: Look = { promise: undefined, outdated: false }
    const trust = engine.hearing.trust
    const end = (): void => {
      if (this.#byKey.get(key) === look) this.#byKey.delete(key)
      look.promise = undefined
    }
    const take = (bytes: Uint8Array | undefined): Found => {
      end()
      if (bytes === undefined) {
        if (known !== undefined && engine.memory?.get(key) === known) engine.memory.delete(key)
        return none
      }
      const { outdated } = look
      const entry = takeIn(engine, source, key, { bytes, known, trust, outdated })
      if (entry === undefined) return unreadable
      return { type: 'entry', entry, outdated, changes: engine.changes }
    }
    const lost = (): Found => {
      end()
      return gone
    }
    const promise = engine.store!.read(key, take, lost)
    look.promise = promise
    this.#byKey.set(key, look)
    return promise
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

/** A frame becomes an entry of this process. `undefined`: unreadable, which is a miss and an event. */
export function takeIn(
  engine: Engine,
  source: Source,
  key: string,
  taken: Taken,
): Entry | undefined {
  const { rules, counters, name } = source
  const { known, trust } = taken
  const failed = (why: string): undefined => {
    counters.unreadable++
    engine.listeners.tell('unreadable', () => ({ name, key, why }))
    return undefined
  }
  const opened = openFrame(taken.bytes, crc)
  if (opened.type === 'unreadable') return failed(opened.why)
  const { payload } = opened
  if (opened.codec !== rules.codec.id && opened.head.uncacheable === undefined)
    return failed('codec')
  const now = engine.clock.now()
  const head = localHead(opened.head, engine.hearing.offsetMs, now)
  if (!taken.outdated && known !== undefined && known.stamp === head.stamp) {
    known.confirm({ freshUntil: head.freshUntil, now, memoryTtlMs: engine.memoryTtlMs, trust })
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
  })
  const mayKeep = !taken.outdated && engine.store?.session.fromReplica !== true
  if (mayKeep && usesMemory(engine, rules)) keep(engine, key, entry)
  return entry
}
