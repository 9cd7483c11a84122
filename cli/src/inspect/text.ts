/** An entry in words. */
import { inspect } from 'node:util'
import type { EntrySeen, FrameSeen, LeaseSeen, ProcessSeen } from 'breakwater/admin'
import { plain, plainLines, type Paint } from '../print/paint.ts'
import { list } from '../print/table.ts'
import { bytes, duration, instant } from '../print/units.ts'

export interface EntryHow {
  readonly paint: Paint
  /** Who loads it. */
  readonly holder: ProcessSeen | undefined
  readonly full: boolean
}

const colours = {
  fresh: 'green',
  stale: 'yellow',
  'stale-if-error': 'yellow',
  uncacheable: 'yellow',
  unreadable: 'red',
  invalidated: 'red',
  expired: 'red',
  missing: 'red',
} as const

export function entryText(seen: EntrySeen, how: EntryHow): string {
  const { paint } = how
  const { key, state, why, frame, lease } = seen
  const negative = frame?.negative === true ? ', negative: “does not exist”' : ''
  const reason = why === undefined ? '' : ` (${whys[why] ?? why})`
  const title = `${paint('bold', plain(key))}  ${paint(colours[state], state)}${reason}${negative}`
  const rows = frame === undefined ? [] : frameRows(seen, frame, how)
  return [title, ...list([...rows, ['lease', leaseText(lease, how.holder)]])].join('\n')
}

const whys: Readonly<Record<string, string>> = {
  foreign: 'not written by breakwater',
  newer: 'written by a newer version',
  older: 'written by an older version',
  truncated: 'cut off',
  corrupt: 'its checksum is wrong',
}

function frameRows(
  seen: EntrySeen,
  frame: FrameSeen,
  how: EntryHow,
): (readonly [string, string])[] {
  const { now, leftMs } = seen
  const { changedBy, tags, meta, value } = frame
  const left = leftMs === undefined ? 'never: it has no expiry' : `in ${duration(leftMs)}`
  const ageMs = Math.max(0, now - frame.storedAt)
  const rows: (readonly [string, string])[] = [
    ['stored', `${instant(frame.storedAt)}, ${duration(ageMs)} ago, by ${plain(frame.filledBy)}`],
    [
      'load',
      `took ${duration(Math.max(0, frame.storedAt - frame.startedAt))}, ${duration(frame.loadMs)} smoothed`,
    ],
    ['fresh', freshText(seen, frame)],
    ['windows', windowsText(frame)],
    ['gone', left],
  ]
  if (frame.uncacheable !== undefined) rows.push(['mark', uncacheables[frame.uncacheable]])
  if (changedBy !== undefined) {
    rows.push(['changed', `${changedBy.how} by ${plain(changedBy.what)}, ${instant(changedBy.at)}`])
  }
  rows.push(['size', sizeText(frame)])
  rows.push(['tags', tags.length === 0 ? 'none' : tags.map(plain).join(', ')])
  if (meta !== undefined) rows.push(['meta', valueText(meta, how)])
  rows.push([
    'value',
    value.type === 'value' ? valueText(value.value, how) : `not shown: ${plain(value.why)}`,
  ])
  return rows
}

const uncacheables = {
  noStore: 'the loader said noStore(): callers load side by side',
  private: 'the loader said private(): every caller loads for itself',
  unstorable: 'its codec could not keep the value: callers load side by side',
} as const

function freshText({ now }: EntrySeen, { storedAt, freshUntil }: FrameSeen): string {
  const ttl = duration(Math.max(0, freshUntil - storedAt))
  return now < freshUntil
    ? `for ${duration(freshUntil - now)} more, of ${ttl}`
    : `until ${duration(now - freshUntil)} ago, for ${ttl}`
}

function windowsText({ staleWhileRevalidateMs, staleIfErrorMs }: FrameSeen): string {
  if (staleWhileRevalidateMs + staleIfErrorMs === 0) return 'none: unusable once it is not fresh'
  return `stale for ${duration(staleWhileRevalidateMs)} while it is refreshed, for ${duration(staleIfErrorMs)} if that fails`
}

function sizeText(frame: FrameSeen): string {
  const how = [
    frame.compression,
    frame.encrypted ? 'encrypted' : undefined,
    frame.apart ? 'body apart' : undefined,
  ]
  const said = how.filter((one) => one !== undefined).join(', ')
  const stored = `${bytes(frame.storedBytes)} in Redis${said === '' ? '' : ` (${said})`}`
  return `${bytes(frame.bytes)} as ${frame.codec}, ${stored}`
}

function leaseText(lease: LeaseSeen | undefined, holder: ProcessSeen | undefined): string {
  if (lease === undefined) return 'free'
  const { failure, heldBy, leftMs, awaited } = lease
  const failed =
    failure === undefined
      ? ''
      : `an earlier load failed: ${plain(failure.error)}` +
        (failure.backoffMs > 0 ? `; nobody tries for ${duration(failure.backoffMs)}` : '')
  if (heldBy === undefined) return failed === '' ? 'free' : `free; ${failed}`
  const who = holder === undefined ? '' : ` (process ${holder.pid} on ${plain(holder.host)})`
  const others = awaited ? 'others wait for it' : 'nobody else waits'
  const held = `held by ${plain(heldBy)}${who} for ${duration(leftMs)} more; ${others}`
  return failed === '' ? held : `${held}; ${failed}`
}

/** `inspect` escapes control characters of texts, but not those of errors, nor what turns a line round. */
function valueText(value: unknown, { paint, full }: EntryHow): string {
  const limits = full
    ? { depth: Infinity, maxArrayLength: null, maxStringLength: null }
    : { depth: 5, maxArrayLength: 20, maxStringLength: 500 }
  const text = inspect(value, { ...limits, colors: paint.isOn, breakLength: 90 })
  return plainLines(text, { coloured: paint.isOn })
}
