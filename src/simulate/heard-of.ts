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

const ofKey = { isByTag: false }

/** A process has heard a message: it is bound by the change that it tells of. */
export function heardOf(ears: Ears, message: BusMessage, sentAt: number): void {
  const { source } = ears
  switch (message.type) {
    case 'invalidated':
    case 'written':
      return bind(ears, [source.byKey.get(message.key)!], { ...ofKey, kind: 'gone', at: sentAt })
    case 'expired':
      return bind(ears, [source.byKey.get(message.key)!], { ...ofKey, kind: 'expired', at: sentAt })
    case 'bumped': {
      if (message.kind === 'settle') return
      const { kind, labels } = message
      return bind(ears, rowsOf(source, labels), { kind, at: sentAt, isByTag: isByTag(labels) })
    }
    case 'published':
    case 'failed':
    case 'released':
    case 'wanted':
    case 'beat':
    case 'rollCall':
    case 'present':
  }
}

function bind(ears: Ears, rows: readonly Row[], told: ToldOf): void {
  const { changes, process, now } = ears
  for (const row of rows) {
    const change = changes.madeAt(row, told.at)
    // One's own binds from its return on, and not by its echo.
    if (change?.sender === process) continue
    changes.known(process, row, { ...told, knownAt: now, change, isOwn: false })
  }
}

interface ToldOf {
  readonly kind: ChangeKind
  readonly at: number
  readonly isByTag: boolean
}
