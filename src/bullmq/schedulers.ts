/**
 * One job scheduler of BullMQ per definition: it makes one plan job per period, however many processes
 * have asked for it. Its id says what it plans (definition, version, schedule, fixed list), so two
 * versions of a deploy have one each and never change the other's. One that nobody knows any more is
 * removed by whoever finds that its plans stay undone; who still knows it makes it again.
 */
import type { AheadDefinition } from '../cache/ahead.ts'
import { digest } from '../cache/digest.ts'
import { everySchedule, type Schedule } from '../core/schedule.ts'
import { rulesOf } from './asks.ts'
import { planName, type PlanData } from './job-data.ts'
import type { QueueLink } from './queue-link.ts'

const planAttempts = 5

export function schedulerIdOf(definition: AheadDefinition): string {
  const { source, prefix } = definition
  const { schedule, args } = rulesOf(definition)
  const parts = [prefix, schedule.text]
  if (typeof args !== 'function') {
    for (const arg of args) parts.push(keyOrNothing(definition, arg))
  }
  // A name may hold anything; colons are BullMQ's.
  return `${encodeURIComponent(source.name)}:${digest(parts.join('\n')).slice(0, 16)}`
}

function keyOrNothing(definition: AheadDefinition, arg: unknown): string {
  try {
    return definition.targetOf(arg).key
  } catch {
    return '' // told when it is read
  }
}

/** Makes it where it is not there, or has lost its next job. */
export async function ensureScheduler(
  link: QueueLink,
  definition: AheadDefinition,
  scheduler: string,
): Promise<void> {
  const { schedule } = rulesOf(definition)
  const known = await link.ask((queue) => queue.getJobScheduler(scheduler))
  if (known !== undefined && known.next !== undefined && known.next !== null) {
    const next = await link.ask((queue) => queue.getJob(`repeat:${scheduler}:${known.next}`))
    if (next !== undefined) return
  }
  const { name } = definition.source
  const data: PlanData = { name, scheduler, periodMs: schedule.periodMs }
  const opts = { attempts: planAttempts, backoff: { type: 'breakwater' } }
  await link.ask((queue) =>
    queue.upsertJobScheduler(scheduler, { pattern: schedule.text }, { name: planName, data, opts }),
  )
  // The first of it comes with the next period: what is left of this one is planned now.
  await link.add([{ name: planName, data, opts: { ...opts, deduplication: { id: scheduler } } }])
}

/** Of a scheduler that this process may not know: then by its text, or once more in a minute. */
export function nextRunOf(known: Schedule | undefined, pattern: string, after: number): number {
  const [, everyMs] = /^every (\d+) ms$/.exec(pattern) ?? []
  const schedule = known ?? (everyMs === undefined ? undefined : everySchedule(Number(everyMs)))
  return schedule === undefined ? after + 60_000 : schedule.periodAt(after).end
}
