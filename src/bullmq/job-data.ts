/**
 * What stands in a job. Arguments are MessagePack as base64, since JSON would change a Date or a
 * bigint without a word; one that would not come back as the same key is refused when it is added.
 */
import type { AheadDefinition } from '../cache/ahead.ts'
import type { Target } from '../cache/engine.ts'
import { messagePack } from '../codecs/msgpack.ts'
import { BreakwaterError, messageOf } from '../core/errors.ts'

/** One refresh of one key. Instants are the store's. */
export interface RefreshData {
  /** Of the definition. */
  readonly name: string
  readonly key: string
  readonly arg: string
  /** The key's turn in the period that it is refreshed for; `null`: somebody has asked for it. */
  readonly turn: Turn | null
  /** From then on it is of no use any more. */
  readonly until: number
}

/** Said in full, since the worker may have another schedule: two versions of a deploy share the keys. */
export interface Turn {
  readonly at: number
  /** What began to load less than this before will do. */
  readonly gapMs: number
}

/** One period of one definition. */
export interface PlanData {
  readonly name: string
  readonly scheduler: string
  readonly periodMs: number
}

export const planName = 'plan'
export const refreshName = 'refresh'

/** Smaller comes first; a job without any comes before all. */
export const priorities = { due: 5, turn: 10 } as const

/** Throws `INVALID_KEY` with a sentence. */
export function encodeArg(definition: AheadDefinition, target: Target): string {
  let text: string
  let back: string
  try {
    text = Buffer.from(messagePack.encode(target.arg)).toString('base64')
    back = definition.targetOf(decodeArg(text)).key
  } catch (error) {
    throw refused(target.key, messageOf(error), error)
  }
  if (back !== target.key) throw refused(target.key, `what came back has the key ${back}`)
  return text
}

export function decodeArg(text: string): unknown {
  return messagePack.decode(Buffer.from(text, 'base64'))
}

function refused(key: string, why: string, cause?: unknown): BreakwaterError {
  return new BreakwaterError(
    'INVALID_KEY',
    `${key}: expected an argument that a job can carry (plain data, Dates, bigints …), and this one ` +
      `would not come back the same: ${why}`,
    cause === undefined ? { key } : { key, cause },
  )
}
