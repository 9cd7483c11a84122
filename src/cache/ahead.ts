/**
 * Refresh ahead as the engine sees it (the work is in refresh/): definitions whose values are made
 * by schedule are handed to it, requests that may not load ask it, and it hears what is told of keys.
 */
import { BreakwaterError } from '../core/errors.ts'
import type { Label } from '../core/labels.ts'
import type { BusMessage } from '../ports.ts'
import type { Answer, Engine, Source, Target } from './engine.ts'
import type { Entry } from './entry.ts'
import type { CronSchedule } from './precompute-rules.ts'
import { bounded, type Wanted } from './wanted.ts'

export interface Ahead {
  add(definition: AheadDefinition): void
  /**
   * A request found nothing, or nothing fresh: whoever may load it is asked to. A flight that begins
   * here at once is there to be joined when this returns.
   */
  ask(target: Target, found: Found): void
  /** What there was of this key, or of all that these labels reach, is of before a change. */
  changed(key: string): void
  changedByTag(labels: readonly Label[]): void
  /** What is told of loads, here and elsewhere. */
  heed(message: BusMessage): void
}

/** By a request that is not content with it. */
export interface Found {
  readonly known: Entry | undefined
  /** Only a value will do whose load began then, or later. */
  readonly since: number
}

export interface AheadDefinition {
  readonly source: Source
  /** What all its keys begin with. */
  readonly prefix: string
  /** Throws `INVALID_KEY`. */
  targetOf(arg: unknown): Target
}

/** What the composition root supplies. */
export interface AheadFactory {
  readonly cron: CronSchedule
  make(engine: Engine, how: { readonly takesPart: boolean; readonly id: string }): Ahead
}

/** Do requests leave all loading of it to the background? */
export function isLeftToAhead(engine: Engine, { rules, isAround }: Source): boolean {
  const { precompute } = rules
  if (precompute === undefined || precompute.onMiss === 'load') return false
  return engine.ahead !== undefined && !isAround
}

/** Thrown by a read that finds nothing and may not load. */
export const notYet: unique symbol = Symbol('not made yet')

const firstPollMs = 20
const mostPollMs = 250

/**
 * Until the background has filled the key, here or elsewhere, or the wait is over. `again` is the
 * read itself, which joins a flight where one has begun, and throws `notYet` where nothing has.
 */
export async function awaitFill(
  engine: Engine,
  { key, source }: Target,
  wanted: Wanted,
  again: () => Promise<Answer>,
): Promise<Answer> {
  const { clock, waiters } = engine
  const { waitTimeoutMs } = source.rules
  const until = clock.now() + waitTimeoutMs
  const ear = waiters.listen(key)
  try {
    for (let pollMs = firstPollMs; ; pollMs = Math.min(pollMs * 2, mostPollMs)) {
      const leftMs = until - clock.now()
      if (leftMs <= 0) break
      const ms = Math.ceil(Math.min(leftMs, pollMs * (1 + clock.random())))
      // Of whose load it is nothing is known: any news of the key will do.
      await bounded(engine, key, ear.wait('', ms, clock), wanted)
      ear.forget()
      try {
        return await again()
      } catch (error) {
        if (error !== notYet) throw error
      }
    }
  } finally {
    ear.rouse()
    ear.close()
  }
  const text = `${key}: the background made no value within ${waitTimeoutMs} ms`
  throw new BreakwaterError('WAIT_TIMEOUT', text, { key })
}
