/**
 * What a worker does with a job. One that is not for this process (another version of a deploy has
 * made it, it may not load now) is put off, so that another has it, until it is of no use any more.
 */
import { DelayedError, type Job } from 'bullmq'
import { usesStore, type Engine, type Target } from '../cache/engine.ts'
import { forbidsLoad, modeOf } from '../cache/modes.ts'
import { shareOf } from '../core/schedule.ts'
import type { Hands } from '../refresh/plan.ts'
import { rulesOf, type Asks } from './asks.ts'
import { decodeArg, planName, type PlanData, type RefreshData } from './job-data.ts'
import type { Leaving } from './leaving.ts'
import type { Queued } from './queued.ts'
import type { QueueOptions } from './queue-options.ts'
import type { QueueLink } from './queue-link.ts'
import { RefreshFailed, refreshOnce, withCrew } from './refresh-work.ts'

/** What a plan or refresh job ends with, for whoever looks at the queue. */
type Ended = 'planned' | 'refreshed' | 'found' | 'too late' | 'orphan' | 'unreadable'

export interface Desk {
  readonly engine: Engine
  readonly hands: Hands
  readonly link: QueueLink
  readonly asks: Asks
  readonly options: QueueOptions
  readonly leaving: Leaving
  byName(name: string): Queued | undefined
  byScheduler(scheduler: string): Queued | undefined
}

const mostTries = 3
/** Nobody has known a plan for two periods, and not less or more than this. */
const orphan = { leastMs: 5_000, mostMs: 600_000 }

export function processJob(desk: Desk, job: Job, token: string): Promise<Ended> {
  return job.name === planName ? plan(desk, job, token) : refresh(desk, job, token)
}

async function plan(desk: Desk, job: Job<PlanData>, token: string): Promise<Ended> {
  const { scheduler, periodMs } = job.data
  // Of the scheduler: for when it was planned. Its clock may be a little before the store's.
  const slot = job.opts.prevMillis ?? job.timestamp
  const definition = desk.byScheduler(scheduler)
  if (definition === undefined) {
    const ageMs = desk.engine.clock.now() - slot
    if (ageMs < Math.min(Math.max(2 * periodMs, orphan.leastMs), orphan.mostMs)) {
      return putOff(job, token, periodMs / 4)
    }
    await desk.link.ask((queue) => queue.removeJobScheduler(scheduler))
    return 'orphan'
  }
  if (desk.leaving.isOver) return putOff(job, token, 0)
  const targets = await definition.list()
  definition.take(targets)
  const { schedule } = rulesOf(definition.definition)
  if (job.opts.prevMillis === undefined) {
    // The first of all: what is due already is found by every process, and has its job.
    const { begin } = schedule.periodAt(definition.now)
    const isToCome = ({ key }: Target) => begin + shareOf(key) * schedule.spreadMs > definition.now
    await desk.asks.plan(definition.definition, targets.filter(isToCome), begin)
    return 'planned'
  }
  const { begin } = schedule.periodAt(Math.max(definition.now, slot))
  await desk.asks.plan(definition.definition, targets, begin)
  return 'planned'
}

async function refresh(desk: Desk, job: Job<RefreshData>, token: string): Promise<Ended> {
  const { name, until, turn } = job.data
  const queued = desk.byName(name)
  const { engine } = desk
  if (engine.hearing.storeNow > until) return 'too late'
  if (queued === undefined || desk.leaving.isOver) return putOff(job, token, 60_000)
  const { definition } = queued
  const { periodMs } = rulesOf(definition).schedule
  const target = targetOf(queued, job.data)
  if (target === 'unreadable') return target
  if (target === undefined) return putOff(job, token, periodMs / 4)
  if (isHeld(engine, target)) return putOff(job, token, periodMs / 4, 250)
  const how = {
    isAsked: turn === null,
    onLeave: (leave: () => void) => desk.leaving.onLeave(leave),
  }
  let ended: Ended = 'found'
  let failure: unknown
  const work = async (): Promise<void> => {
    for (let n = 0; n < mostTries; n++) {
      const known = queued.known(target.key)
      const changes = known?.changes ?? 0
      const { backoff } = desk.options
      const attempts = job.attemptsMade
      const asked = { definition, target, turn, attempts, backoff, known }
      const { done, backoffMs } = await refreshOnce(desk.hands, asked)
      const came = queued.came(target, changes, done, backoffMs)
      if (done.type === 'failed') failure = new RefreshFailed(target.key, done.error, backoffMs)
      else if (done.type === 'answered') ended = 'refreshed'
      if (came === 'ended') return
    }
  }
  if (!(await withCrew(desk.hands, how, work))) return putOff(job, token, 0)
  if (failure === undefined) return ended
  // A load that was cut off by the end of this process: another does it.
  if (engine.state === 'closed') return putOff(job, token, 0)
  throw failure
}

/** `undefined`: another version of the definition has made the job. */
function targetOf({ definition }: Queued, data: RefreshData): Target | 'unreadable' | undefined {
  let arg: unknown
  try {
    arg = decodeArg(data.arg)
  } catch {
    return 'unreadable'
  }
  try {
    const target = definition.targetOf(arg)
    return target.key === data.key ? target : undefined
  } catch {
    return undefined
  }
}

/** It may not load now: as it was switched, or since nobody else would have what it loads. */
function isHeld(engine: Engine, { source, key }: Target): boolean {
  const mode = modeOf(engine, source)
  if (forbidsLoad(mode, true) || mode === 'bypass') return true
  return usesStore(engine, source.rules) && engine.store!.isDown(key)
}

/** Longer each time: soon at first, since the next to take it may know it. No attempt is counted. */
async function putOff(job: Job, token: string, mostMs: number, firstMs = 25): Promise<never> {
  const ms = Math.min(firstMs * 2 ** Math.min(job.attemptsStarted - 1, 20), mostMs, 60_000)
  await job.moveToDelayed(Date.now() + Math.ceil(ms), token)
  throw new DelayedError()
}
