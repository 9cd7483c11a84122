/** Answers are counted where callers get them, once each; and a fallback is the caller's own. */
import { BreakwaterError, type ErrorCode } from '../core/errors.ts'
import type { Outcome } from '../core/events.ts'
import { notYet } from './ahead.ts'
import type { Answer, Engine, Source } from './engine.ts'
import { countStale } from './count.ts'
import { callbackFailed, isAbort, isFailure } from './failure.ts'
import type { ResolvedCall } from './options.ts'

/** A value that is no entry's. */
export interface StandIn {
  readonly outcome: 'fallback' | 'refused' | 'placeholder'
  readonly value: unknown
}

export function isStandIn(answer: Answer | StandIn): answer is StandIn {
  const { outcome } = answer
  return outcome === 'fallback' || outcome === 'refused' || outcome === 'placeholder'
}

/** Thrown by a read whose argument cannot exist. */
export const refused: unique symbol = Symbol('refused by the guard')

const nothingThere: StandIn = { outcome: 'refused', value: undefined }

export interface Asked {
  readonly source: Source
  readonly key: string
  readonly arg: unknown
  readonly call: ResolvedCall | undefined
}

/** What `run` gives, or the fallback of the caller's definition where nothing else can be given. */
export async function answered(
  engine: Engine,
  asked: Asked,
  run: () => Promise<Answer>,
): Promise<Answer | StandIn> {
  const { source, key } = asked
  const { counters } = source
  try {
    const answer = await run()
    const { outcome, entry, tier } = answer
    if (outcome === 'hit') counters[tier === 'memory' ? 'hitMemory' : 'hitStore']++
    else if (outcome === 'stale') {
      const { cause = 'revalidate' } = answer
      if (answer.hasLoad === true) counters.staleLoading++
      countStale(engine, source, key, { cause, tier, freshUntil: entry.freshUntil })
    } else counters[outcome]++
    if (answer.isShared === true && outcome === 'loaded') counters.shared++
    if (entry.negative) counters.negative++
    tell(engine, source, key, outcome)
    return answer
  } catch (thrown) {
    if (thrown === refused) {
      countRefused(engine, source, key)
      return nothingThere
    }
    let error = thrown
    try {
      if (thrown === notYet) return placeholderFor(engine, asked)
    } catch (fault) {
      error = fault
    }
    const value = fallback(engine, asked, error)
    if (value === undefined) {
      counters.failed++
      if (isAbort(asked.call, error)) counters.aborted++
      else if (!isFailure(engine, source, key, error)) counters.answerErrors++
      throw error
    }
    counters.fallback++
    tell(engine, source, key, 'fallback')
    return value
  }
}

/** Refusals that no value can stand in for: the caller's own doing, or the end of the cache. */
const notCovered: readonly ErrorCode[] = ['INVALID_KEY', 'INVALID_OPTION', 'CLOSED', 'CYCLE']

function fallback(engine: Engine, asked: Asked, error: unknown): StandIn | undefined {
  const { source, key, arg } = asked
  const { rules } = source
  if (rules.fallback === undefined) return undefined
  if (isAbort(asked.call, error)) return undefined
  if (error instanceof BreakwaterError && notCovered.includes(error.code)) return undefined
  if (!isFailure(engine, source, key, error)) return undefined
  try {
    return { outcome: 'fallback', value: rules.fallback(error, arg) }
  } catch (fault) {
    callbackFailed(engine, { name: source.name, key }, 'fallback', fault)
    return undefined
  }
}

/** What stands in for a value that the background has not made yet. */
function placeholderFor(engine: Engine, { source, key, arg }: Asked): StandIn {
  const { rules, counters, name } = source
  const { placeholder } = rules.precompute!
  if (placeholder === undefined) {
    // It was made, and is not to be kept for anyone.
    throw new BreakwaterError('WAIT_TIMEOUT', `${key}: the background has no value to give`, {
      key,
    })
  }
  try {
    const value = placeholder(arg)
    counters.placeholder++
    tell(engine, source, key, 'placeholder')
    return { outcome: 'placeholder', value }
  } catch (error) {
    callbackFailed(engine, { name, key }, 'placeholder', error)
    throw error
  }
}

export function countRefused(engine: Engine, source: Source, key: string): void {
  source.counters.refused++
  tell(engine, source, key, 'refused')
}

function tell(engine: Engine, source: Source, key: string, outcome: Outcome): void {
  const { name } = source
  if (engine.listeners.answer) engine.listeners.tell('answer', () => ({ name, key, outcome }))
}
