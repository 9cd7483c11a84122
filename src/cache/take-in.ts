/**
 * What was unpacked from the store becomes an entry of this process: held against what is known of
 * its tags, put on this process's clock, and kept in memory where nothing forbids it.
 */
import type { Label } from '../core/labels.ts'
import { bounded } from '../core/lifetime.ts'
import type { Token } from '../ports.ts'
import { mayAsk, usesMemory, type Engine, type Source } from './engine.ts'
import { isAlive, makeLocal, type Entry } from './entry.ts'
import { keep, newEntry } from './keep.ts'
import { union } from './tags-of.ts'
import type { Unpacked, Unread } from './unpack.ts'

export interface Taken {
  readonly key: string
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

/** What is unreadable is a miss, and an event. */
export function takeIn(
  engine: Engine,
  source: Source,
  unpacked: Unpacked | Unread,
  taken: Taken,
): Entry | Refused {
  const { rules } = source
  const { key, known, trust } = taken
  // Another server may have answered than was asked, one that has taken over and has not heard of the
  // last changes.
  if (!mayAsk(engine, rules, key)) return refused
  if (unpacked.type === 'unread') return unreadable(engine, source, key, unpacked)
  const { head: opened, codec, payload, value, meta } = unpacked
  const now = engine.clock.now()
  const { offsetMs } = engine.hearing
  const verdict = engine.tags.judge(opened, source.labels, key, now + offsetMs)
  if (verdict === 'gone') return { why: 'gone', stamp: opened.stamp }
  if (verdict === 'unknown') return { why: 'unknown', labels: [...source.labels, ...opened.tags] }
  const { tick } = engine.tags
  const own = verdict === undefined ? opened : bounded(opened, verdict)
  let head = makeLocal(own, offsetMs, now)
  // With no window left, to expire is to invalidate.
  if (verdict !== undefined && !isAlive(head, now)) {
    return { why: 'gone', stamp: head.stamp }
  }
  if (source.name === '') {
    const tags = union(head.tags, rules.tags.fixed)
    if (tags !== head.tags) head = { ...head, tags }
  }
  if (!taken.outdated && known !== undefined && known.stamp === head.stamp) {
    const { memoryTtlMs } = engine
    known.confirm({ freshUntil: head.freshUntil, now, memoryTtlMs, trust, tick })
    return known
  }
  const isCopied = rules.values === 'clone' && head.uncacheable === undefined
  const entry = newEntry(engine, rules, {
    head,
    value: isCopied ? undefined : value,
    meta,
    // A copy: the bytes may be a slice of what the client received at once.
    payload: isCopied ? new Uint8Array(payload) : undefined,
    codec,
    size: payload.length,
    now,
    trust,
    tick,
  })
  const mayKeep = !taken.outdated && engine.store?.session.fromReplica !== true
  if (mayKeep && usesMemory(engine, rules)) keep(engine, key, entry)
  return entry
}

function unreadable(engine: Engine, source: Source, key: string, { why, path }: Unread): Refused {
  const { counters, name } = source
  counters.unreadable++
  engine.listeners.tell('unreadable', () =>
    path === undefined ? { name, key, why } : { name, key, why, path },
  )
  return refused
}
