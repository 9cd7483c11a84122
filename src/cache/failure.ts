/** When a load has failed: is that a failure, and may an older value stand in for this caller? */
import { mayCover } from '../core/decide.ts'
import type { StaleCause } from '../core/events.ts'
import type { Cooldown } from '../flight/cooldowns.ts'
import type { Answer, Engine, Source } from './engine.ts'
import type { Entry } from './entry.ts'
import { holds } from './keep.ts'
import type { ResolvedCall } from './options.ts'

/** A callback of the user's threw: told, and never in the way of what it was called for. */
export function callbackFailed(
  engine: Engine,
  at: { readonly name: string; readonly key: string },
  callback: string,
  error: unknown,
): void {
  const { name, key } = at
  engine.listeners.tell('callbackFailed', () => ({ name, key, callback, error }))
}

/** The caller's own doing: its signal ended the call. */
export function isAbort(call: ResolvedCall | undefined, error: unknown): boolean {
  return call?.signal?.aborted === true && error === call.signal.reason
}

/** False: the error is an answer ("not found"), which no older value covers. */
export function isFailure(engine: Engine, source: Source, key: string, error: unknown): boolean {
  try {
    return source.rules.isFailure(error)
  } catch (fault) {
    callbackFailed(engine, { name: source.name, key }, 'isFailure', fault)
    return true
  }
}

/** The failure that is remembered of a key, unless a change by tag has made it one of before. */
export function cooldownOf(
  engine: Engine,
  source: Source,
  key: string,
  now: number,
): Cooldown | undefined {
  const found = engine.cooldowns.get(key, now)
  if (found === undefined || !engine.tags.changedSince(found.tick, source.labels, []).gone) {
    return found
  }
  engine.cooldowns.delete(key)
  return undefined
}

/** The older value, where this caller's own rules allow it. */
export function coverBy(
  engine: Engine,
  source: Source,
  key: string,
  older: { readonly known: Entry | undefined; readonly since: number },
  cause: StaleCause,
): Answer | undefined {
  const { known, since } = older
  if (known === undefined || known.uncacheable !== undefined || known.startedAt < since)
    return undefined
  if (!holds(engine, source, known)) return undefined
  const now = engine.clock.now()
  if (!mayCover(known, now, source.rules)) return undefined
  const tier = engine.memory?.get(key) === known ? 'memory' : 'store'
  if (now < known.freshUntil) return { entry: known, outcome: 'hit', tier, private: false }
  return { entry: known, outcome: 'stale', tier, private: false, cause }
}
