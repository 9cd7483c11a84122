import type { BusMessage } from '../ports.ts'
import type { Changes, ChangeKind } from './changes.ts'
import { isByTag, rowsOf } from './rows-of.ts'
import type { Row, Source } from './source.ts'

interface Ears {
  readonly source: Source
  readonly changes: Changes
  readonly process: number
  readonly now: number
}

/** A process has heard a message: it is bound by the change that it tells of. */
export function heardOf(ears: Ears, message: BusMessage, sentAt: number): void {
  const { source } = ears
  switch (message.type) {
    case 'invalidated':
    case 'written':
      return bind(ears, [source.byKey.get(message.key)!], 'gone', sentAt)
    case 'expired':
      return bind(ears, [source.byKey.get(message.key)!], 'expired', sentAt)
    case 'bumped':
      if (message.kind === 'settle') return
      return bind(ears, rowsOf(source, message.labels), message.kind, sentAt, isByTag(message.labels))
    case 'published':
    case 'failed':
    case 'released':
    case 'beat':
  }
}

function bind(ears: Ears, rows: readonly Row[], kind: ChangeKind, at: number, byTag = false): void {
  const { changes, process, now } = ears
  for (const row of rows) {
    const change = changes.madeAt(row, at)
    // Where the store has nothing to expire, others are told that it is gone; whoever expired it keeps
    // what is his alone.
    const own = change?.sender === process ? change.kind : kind
    changes.known(process, row, { kind: own, at, knownAt: now, change, isOwn: false, isByTag: byTag })
  }
}
