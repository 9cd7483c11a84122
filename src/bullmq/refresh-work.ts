/**
 * One refresh of one key, as a job has it: under the cache's own lease, and only where what is there
 * is not of this period already. So a job that is run again (its worker was killed, it was added twice,
 * another scheduler runs beside) loads nothing a second time.
 */
import type { Entry } from '../cache/entry.ts'
import { mayAsk, type Engine, type Target } from '../cache/engine.ts'
import { heldIn } from '../cache/keep.ts'
import { refreshAhead, type Refreshed } from '../cache/scheduled.ts'
import { messageOf } from '../core/errors.ts'
import { countsUntil } from '../core/schedule.ts'
import type { Hands } from '../refresh/plan.ts'
import { newUpkeep, retryMs, type Upkeep } from '../refresh/upkeep.ts'
import { rulesOf } from './asks.ts'
import type { AheadDefinition } from '../cache/ahead.ts'
import type { Turn } from './job-data.ts'
import type { Backoff } from './queue-options.ts'

/** Tells BullMQ when to try again. */
export class RefreshFailed extends Error {
  override readonly name = 'RefreshFailed'
  readonly retryInMs: number

  constructor(key: string, cause: unknown, retryInMs: number) {
    super(`${key}: ${messageOf(cause)}`, { cause })
    this.retryInMs = retryInMs
  }
}

export interface RefreshWork {
  readonly definition: AheadDefinition
  readonly target: Target
  /** `null`: whatever is fresh will do. */
  readonly turn: Turn | null
  /** That have failed already. */
  readonly attempts: number
  readonly backoff: Backoff | undefined
  /** What this process knows of the key; `undefined`: it is not of its list. */
  readonly known: Upkeep | undefined
}

export interface RefreshDone {
  readonly done: Refreshed
  readonly backoffMs: number
}

/** Never rejects. */
export async function refreshOnce(hands: Hands, work: RefreshWork): Promise<RefreshDone> {
  const { engine } = hands
  const { target, turn } = work
  const key = work.known ?? { ...newUpkeep(target, 0, async () => {}), failures: work.attempts }
  const backoffMs = backoffOf(engine, key, work)
  const isGoodEnough = (entry: Entry): boolean => {
    if (entry.uncacheable !== undefined || turn === null) {
      return engine.clock.now() < entry.freshUntil
    }
    return countsUntil(entry, turn.gapMs) + engine.hearing.offsetMs >= turn.at
  }
  if (turn === null) await forgetLost(engine, target)
  // For so long nobody tries. It is told while BullMQ counts already, and must be over by then.
  const heldMs = Math.max(0, Math.min(backoffMs * 0.75, backoffMs - 50))
  const done = await refreshAhead(engine, target, {
    isGoodEnough,
    backoffMs: heldMs,
    // One worker has the job, whatever becomes of the cache's own Redis.
    mayGoAlone: true,
  })
  return { done, backoffMs }
}

/** Who asks has found nothing in the store, where it may have been evicted without a word. */
async function forgetLost(engine: Engine, { key, source }: Target): Promise<void> {
  const held = heldIn(engine, source, key)
  if (held === undefined || !mayAsk(engine, source.rules, key)) return
  // What the store has not is not held any more, either.
  await engine.looks.at(engine, source, key, held)
}

function backoffOf(engine: Engine, key: Upkeep, { definition, attempts, backoff }: RefreshWork) {
  if (backoff !== undefined) {
    return backoff.type === 'fixed' ? backoff.delayMs : backoff.delayMs * 2 ** attempts
  }
  const { schedule, alerts } = rulesOf(definition)
  return retryMs(schedule, key, {
    now: engine.hearing.storeNow,
    errorBackoffMs: definition.source.rules.errorBackoffMs,
    failures: alerts.failures,
  })
}

/** In the crew, which keeps callers' loads before those that are only due. `false`: it has been given back. */
export function withCrew(
  { crew }: Hands,
  how: { readonly isAsked: boolean; onLeave(leave: () => void): () => void },
  run: () => Promise<void>,
): Promise<boolean> {
  return new Promise((resolve) => {
    const job = {
      isAsked: how.isAsked,
      run: async () => {
        forget()
        await run()
        resolve(true)
      },
    }
    const forget = how.onLeave(() => {
      crew.leave(job)
      resolve(false)
    })
    crew.enter(job)
  })
}
