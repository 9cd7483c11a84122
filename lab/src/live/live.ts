// What the lab carries with it for whoever looks on: the record that it tells, and the controls that
// somebody may press.

import { Controls, type Spells } from './controls.ts'
import { LiveRecord, type LiveState } from './live-record.ts'

export interface Live {
  readonly record: LiveRecord
  readonly controls: Controls
}

export function createLive(mode: LiveState['mode'], spells: Partial<Spells> = {}): Live {
  const record = new LiveRecord(mode)
  return { record, controls: new Controls(record, spells) }
}
