/**
 * A frame from the store becomes an entry of this process: opened, held against what is known of its
 * tags, put on this process's clock, decoded, and kept in memory where nothing forbids it.
 */
import { deepFreeze } from '../core/freeze.ts'
import { openFrame } from '../core/frame.ts'
import type { Label } from '../core/labels.ts'
import { bounded } from '../core/lifetime.ts'
import type { Token } from '../ports.ts'
import { mayAsk, usesMemory, type Engine, type Source } from './engine.ts'
import { isAlive, makeLocal, type Entry } from './entry.ts'
import { keep, newEntry } from './keep.ts'
import { union } from './tags-of.ts'
import { crc, decoded } from './values.ts'

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

/** A frame becomes an entry of this process. Unreadable ones are a miss, and an event. */
export function takeIn(
  engine: Engine,
  source: Source,
  bytes: Uint8Array,
  taken: Taken,
): Entry | Refused {
  const { rules } = source
  const { key, known, trust } = taken
  // Another server may have answered than was asked, one that has taken over and has not heard of the
  // last changes.
  if (!mayAsk(engine, rules, key)) return refused
  const opened = openFrame(bytes, crc)
  if (opened.type === 'unreadable') return unreadableFrame(engine, source, key, opened.why)
  const { payload } = opened
  if (opened.codec !== rules.codec.id && opened.head.uncacheable === undefined)
    return unreadableFrame(engine, source, key, 'codec')
  const now = engine.clock.now()
  const { offsetMs } = engine.hearing
  const verdict = engine.tags.judge(opened.head, source.labels, key, now + offsetMs)
  if (verdict === 'gone') return { why: 'gone', stamp: opened.head.stamp }
  if (verdict === 'unknown')
    return { why: 'unknown', labels: [...source.labels, ...opened.head.tags] }
  const { tick } = engine.tags
  const own = verdict === undefined ? opened.head : bounded(opened.head, verdict)
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
  let value: unknown
  let meta: unknown
  try {
    // Where each caller decodes its own copy, too: bytes that cannot be read are a miss here, not there.
    if (head.uncacheable === undefined) value = decoded(payload, rules)
    if (rules.values === 'clone') value = undefined
    if (head.meta !== undefined) meta = deepFreeze(rules.codec.decode(head.meta))
  } catch {
    return unreadableFrame(engine, source, key, 'undecodable')
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

function unreadableFrame(engine: Engine, source: Source, key: string, why: string): Refused {
  const { counters, name } = source
  counters.unreadable++
  engine.listeners.tell('unreadable', () => ({ name, key, why }))
  return refused
}
