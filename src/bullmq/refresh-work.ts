/**
 * One refresh of one key, as a job has it: under the cache's own lease, and only where what is there
 * is not of this period already. So a job that is run again (its worker was killed, it was added twice,
 * another scheduler runs beside) loads nothing a second time.
 */
import type { Entry } from '../cache/entry.ts'
import type { Engine, Target } from '../cache/engine.ts'
import { refreshAhead, type Refreshed } from '../cache/scheduled.ts'
import { messageOf } from '../core/errors.ts'
import { dueAfter } from '../core/schedule.ts'
import type { Hands } from '../refresh/plan.ts'
import { newUpkeep, retryMs, type Upkeep } from '../refresh/upkeep.ts'
import { rulesOf } from './asks.ts'
import type { AheadDefinition } from '../cache/ahead.ts'
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
  readonly turn: number | null
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
  const { definition, target, turn } = work
  const { schedule } = rulesOf(definition)
  const key = work.known ?? { ...newUpkeep(target, 0, async () => {}), failures: work.attempts }
  const backoffMs = backoffOf(engine, key, work)
  const isGoodEnough = (entry: Entry): boolean => {
    const now = engine.clock.now()
    if (entry.uncacheable !== undefined || turn === null) return now < entry.freshUntil
    const { offsetMs } = engine.hearing
    const load = { startedAt: entry.startedAt + offsetMs, storedAt: entry.storedAt + offsetMs }
    // By the host's clock a job may come a little before its turn.
    return dueAfter(schedule, key.share, load) > Math.max(turn, now + offsetMs)
  }
  // For so long nobody tries: it must be over when this job is tried again.
  const done = await refreshAhead(engine, target, { isGoodEnough, backoffMs: backoffMs * 0.9 })
  return { done, backoffMs }
}

function backoffOf(engine: Engine, key: Upkeep, { definition, attempts, backoff }: RefreshWork) {
  if (backoff !== undefined) {
    return backoff.type === 'fixed' ? backoff.delayMs : backoff.delayMs * 2 ** attempts
  }
  const { schedule, alerts } = rulesOf(definition)
  return retryMs(schedule, key, {
    now: engine.clock.now() + engine.hearing.offsetMs,
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
