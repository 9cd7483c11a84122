/**
 * One run of the user's loader: in its place, under its hard deadline, in its own context. A throw
 * before the first promise is a rejection like any other; a loader that never settles loses its
 * place at the deadline and is counted as abandoned.
 */
import type { Ending } from '../core/adaptive-limit.ts'
import { BreakwaterError } from '../core/errors.ts'
import type { Place } from '../flight/limiter.ts'
import { inside, outside } from '../flight/nesting.ts'
import type { Engine, Flying, Work } from './engine.ts'
import type { Entry } from './entry.ts'
import { holds } from './keep.ts'
import { loadContext, type Said } from './load-context.ts'
import type { EntryRules } from './options.ts'

export interface Ran {
  readonly value: unknown
  readonly said: Said
  /** What the loader was given as `previous`. */
  readonly previous: Entry | undefined
  readonly startedAt: number
  /** What was known of tags by then: an epoch for others, a tick for this process. */
  readonly asOf: number
  readonly tick: number
  readonly endedAt: number
}

export interface Run {
  readonly engine: Engine
  readonly work: Work
  readonly flight: Flying
  readonly place: Place
  readonly controller: AbortController
}

/** Rejects with what the loader threw, with `LOAD_TIMEOUT`, or with the reason of the abort. */
export async function runLoader({ engine, work, flight, place, controller }: Run): Promise<Ran> {
  const { clock } = engine
  const { key, source } = work.target
  const { rules } = source
  const startedAt = clock.now()
  flight.startedAt = startedAt
  const { highest: asOf, tick } = engine.tags
  flight.tick = tick
  flight.asOf = asOf
  const previous =
    work.known !== undefined && holds(engine, source, work.known) ? work.known : undefined
  const { ctx, said } = loadContext({
    key,
    signal: controller.signal,
    deadline: startedAt + rules.loadTimeoutMs,
    reason: work.reason,
    previous,
    rules,
  })
  const stop = clock.after(rules.loadTimeoutMs, () => {
    controller.abort(
      new BreakwaterError(
        'LOAD_TIMEOUT',
        `${key}: the loader took longer than ${rules.loadTimeoutMs} ms`,
        { key },
      ),
    )
  })
  const { seat } = work
  const load = (): unknown => (seat?.isIn === true ? seat.load(ctx) : work.target.load(ctx))
  const result = inside(flight, () => attempt(load))
  let ended = false
  const settled = result.finally(() => (ended = true))
  settled.catch(() => {})
  const told = (how: Ending): void => {
    // Of a common load its batch tells.
    if (seat?.isIn === true && how !== 'timedOut') return
    engine.limiter.ended({ name: source.name, startedAt, how })
  }
  try {
    const value = await firstOf(settled, controller.signal)
    told('answered')
    return { value, said, previous, startedAt, asOf, tick, endedAt: clock.now() }
  } catch (error) {
    const how = endingOf(error, { rules, key, isGivenUp: !ended })
    if (how !== undefined) told(how)
    throw error
  } finally {
    stop()
    flight.over = true
    outside()
    if (ended) place.leave()
    else {
      source.counters.abandoned++
      place.abandon(settled, rules.loadTimeoutMs * forgottenAfter)
    }
  }
}

/** So many of its deadlines later an abandoned load counts as one that will never end. */
const forgottenAfter = 10

/** What it says of the source; `undefined`: nothing, it was left, or the cache itself refused. */
function endingOf(
  error: unknown,
  of: { readonly rules: EntryRules; readonly key: string; readonly isGivenUp: boolean },
): Ending | undefined {
  if (error instanceof BreakwaterError) {
    const isOwn = of.isGivenUp && error.code === 'LOAD_TIMEOUT' && error.key === of.key
    return isOwn ? 'timedOut' : undefined
  }
  if (of.isGivenUp) return undefined
  try {
    return of.rules.isFailure(error) ? 'failed' : 'answered'
  } catch {
    return 'failed'
  }
}

function attempt(load: () => unknown): Promise<unknown> {
  try {
    return Promise.resolve(load())
  } catch (error) {
    return Promise.reject(error)
  }
}

/** The result, or the reason of the abort, whichever is first. */
function firstOf<T>(result: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const onAbort = (): void => reject(signal.reason)
    if (signal.aborted) return onAbort()
    signal.addEventListener('abort', onAbort, { once: true })
    result.then(resolve, reject).finally(() => signal.removeEventListener('abort', onAbort))
  })
}
