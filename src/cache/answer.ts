/** Answers are counted where callers get them, once each; and a fallback is the caller's own. */
import { BreakwaterError, type ErrorCode } from '../core/errors.ts'
import type { Answer, Engine, Source } from './engine.ts'

interface Fallback {
  readonly outcome: 'fallback'
  readonly value: unknown
}

export function isFallback(answer: Answer | Fallback): answer is Fallback {
  return answer.outcome === 'fallback'
}

export async function answered(
  engine: Engine,
  source: Source,
  key: string,
  run: () => Promise<Answer>,
): Promise<Answer> {
  const { name, counters } = source
  let answer: Answer
  try {
    answer = await run()
  } catch (error) {
    counters.failed++
    throw error
  }
  const { outcome, entry, tier } = answer
  if (outcome === 'hit') {
    if (tier === 'memory') counters.hitMemory++
    else counters.hitStore++
  } else counters[outcome]++
  if (entry.negative) counters.negative++
  if (engine.listeners.answer) engine.listeners.tell('answer', () => ({ name, key, outcome }))
  return answer
}

/** Refusals that no value can stand in for: the caller's own doing, or the end of the cache. */
const notCovered: readonly ErrorCode[] = ['INVALID_KEY', 'INVALID_OPTION', 'CLOSED', 'CYCLE']

export async function withFallback(
  engine: Engine,
  source: Source,
  asked: { readonly key: string; readonly arg: unknown },
  run: () => Promise<Answer>,
): Promise<Answer | Fallback> {
  const { fallback, isFailure } = source.rules
  if (fallback === undefined) return answered(engine, source, asked.key, run)
  try {
    return await answered(engine, source, asked.key, run)
  } catch (error) {
    if (error instanceof BreakwaterError && notCovered.includes(error.code)) throw error
    if (isAbort(error) || !isFailure(error)) throw error
    const value = fallback(error, asked.arg)
    source.counters.fallback++
    const { name } = source
    if (engine.listeners.answer) {
      engine.listeners.tell('answer', () => ({ name, key: asked.key, outcome: 'fallback' }))
    }
    return { outcome: 'fallback', value }
  }
}

function isAbort(error: unknown): boolean {
  return error instanceof DOMException && error.name === 'AbortError'
}
