/** An entry as it lies in the store, and what a reader would make of it at this moment. */
import { crc32 } from 'node:zlib'
import { Tags } from '../cache/tags.ts'
import { makerOf } from '../cache/tokens.ts'
import { openFrame, type OpenedFrame } from '../core/frame.ts'
import type { Head } from '../core/head.ts'
import { everything, keyLabel, resourceLabel, type Label } from '../core/labels.ts'
import type { CodecPort, Inspection, LyingLease, LyingTags, StoreSession } from '../ports.ts'
import type {
  EntrySeen,
  FrameSeen,
  Freshness,
  LeaseSeen,
  TagChangeSeen,
  ValueSeen,
} from './seen.ts'
import { labelText, lastChange } from './tags.ts'
import { codecName, decodeMeta, openValue } from './value.ts'

export interface Looking {
  readonly session: StoreSession
  readonly inspection: Inspection
  /** Beside our own. */
  readonly codecs: readonly CodecPort[]
}

type Opened = Extract<OpenedFrame, { type: 'frame' }>

export async function seeEntry(looking: Looking, key: string): Promise<EntrySeen> {
  const { session, inspection } = looking
  const [lying, { time }] = await Promise.all([inspection.entry(key), session.beat(1)])
  const common = { key, now: time, leftMs: lying.leftMs, lease: seenLease(lying.lease, time) }
  if (lying.frame === undefined) return { ...common, state: 'missing', frame: undefined }
  const opened = openFrame(lying.frame, crc32)
  if (opened.type === 'unreadable') {
    return { ...common, state: 'unreadable', why: opened.why, frame: undefined }
  }
  const { head } = opened
  const labels = [...readersLabels(key), ...head.tags]
  const [tags, value] = await Promise.all([
    inspection.tags([...labels, keyLabel(key)], 0),
    openValue(looking, key, opened),
  ])
  const judged = judge({ head, labels, key, tags, now: time })
  const size = lying.frame.length + value.apartBytes
  return {
    ...common,
    state: judged.state,
    frame: seenFrame(looking, opened, { ...judged, value, size }),
  }
}

/** What every reader adds. Tags of a definition that are the same for all its entries are in the frame, too. */
function readersLabels(key: string): readonly Label[] {
  const [, name] = /^r:([^:@]+)[:@]/.exec(key) ?? []
  if (name === undefined) return [everything]
  const unescaped = name.replace(/%(25|3A|40)/g, (mark) => decodeURIComponent(mark))
  return [everything, resourceLabel(unescaped)]
}

interface Judged {
  readonly state: Freshness
  readonly freshUntil: number
  readonly changedBy: TagChangeSeen | undefined
}

/** By the rule that every process goes by. */
function judge(of: {
  readonly head: Head
  readonly labels: readonly Label[]
  readonly key: string
  readonly tags: LyingTags
  readonly now: number
}): Judged {
  const { head, labels, key, tags, now } = of
  const { highest = 0, floor, marks, settling } = tags
  const rule = new Tags(() => undefined)
  const asked = { since: 0, known: 0, settling: true, labels }
  rule.take({ time: now, highest, floor, since: highest, marks, settling }, asked)
  const verdict = rule.judge(head, labels, key, now)
  const changedBy = lastChange(tags, { asOf: head.asOf, labels: [...labels, keyLabel(key)], now })
  if (head.uncacheable !== undefined)
    return { state: 'uncacheable', freshUntil: head.freshUntil, changedBy }
  if (typeof verdict === 'string')
    return { state: 'invalidated', freshUntil: head.freshUntil, changedBy }
  const freshUntil = Math.min(head.freshUntil, verdict?.expiredAt ?? Infinity)
  const until = verdict?.until ?? Infinity
  return { state: stateAt(now, { head, freshUntil, until }), freshUntil, changedBy }
}

function stateAt(
  now: number,
  { head, freshUntil, until }: { head: Head; freshUntil: number; until: number },
): Freshness {
  if (now >= until) return 'invalidated'
  if (now < freshUntil) return 'fresh'
  if (now < freshUntil + head.staleWhileRevalidateMs) return 'stale'
  return now < freshUntil + head.staleIfErrorMs ? 'stale-if-error' : 'expired'
}

function seenFrame(
  { codecs }: Looking,
  opened: Opened,
  {
    freshUntil,
    changedBy,
    value,
    size,
  }: Judged & { value: { seen: ValueSeen; compression: string | undefined }; size: number },
): FrameSeen {
  const { head, codec, isSealed, isApart, rawLength } = opened
  const { stamp, startedAt, storedAt, staleWhileRevalidateMs, staleIfErrorMs } = head
  return {
    stamp,
    filledBy: makerOf(stamp),
    startedAt,
    storedAt,
    freshUntil,
    staleWhileRevalidateMs,
    staleIfErrorMs,
    loadMs: head.deltaMs,
    asOf: head.asOf,
    negative: head.negative,
    uncacheable: head.uncacheable,
    tags: head.tags.map(labelText),
    changedBy,
    meta: decodeMeta(codecs, opened),
    codec: codecName(codecs, codec),
    compression: value.compression,
    encrypted: isSealed,
    apart: isApart,
    bytes: rawLength,
    storedBytes: size,
    value: value.seen,
  }
}

function seenLease(lease: LyingLease | undefined, now: number): LeaseSeen | undefined {
  if (lease === undefined) return undefined
  const { holder, leftMs, awaitedUntil, failure } = lease
  return {
    holder,
    heldBy: holder === undefined ? undefined : makerOf(holder),
    leftMs,
    awaited: awaitedUntil > now,
    failure: failure && {
      error: failure.error,
      backoffMs: Math.max(0, Math.ceil(failure.backoffUntil - now)),
    },
  }
}
