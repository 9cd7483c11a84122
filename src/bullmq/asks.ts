/**
 * Jobs for what is missing now. Whoever waits for a key asks again and again, so each is throttled
 * here, and deduplicated in Redis: while one is under way, be it in its back-off, no other is added.
 */
import type { AheadDefinition } from '../cache/ahead.ts'
import type { Engine, Target } from '../cache/engine.ts'
import { callbackFailed } from '../cache/failure.ts'
import type { PrecomputeRules } from '../cache/precompute-rules.ts'
import { shareOf } from '../core/schedule.ts'
import { encodeArg, priorities, refreshName, type RefreshData, type Turn } from './job-data.ts'
import { Quiet } from '../refresh/quiet.ts'
import type { Upkeep } from '../refresh/upkeep.ts'
import type { NewJob, QueueLink } from './queue-link.ts'

const perSlice = 500
/** An ask is of use as long as somebody may wait for it. */
const leastUseMs = 60_000

export class Asks {
  readonly #engine: Engine
  readonly #link: QueueLink
  readonly #attempts: number | undefined
  readonly #quiet = new Quiet()

  constructor(engine: Engine, link: QueueLink, attempts: number | undefined) {
    this.#engine = engine
    this.#link = link
    this.#attempts = attempts
  }

  get isOpen(): boolean {
    return this.#link.isUp
  }

  /** Somebody waits for it. `otherwise`: the queue has not taken it. */
  ask(definition: AheadDefinition, target: Target, otherwise: () => void): void {
    const { key } = target
    if (!this.#quiet.ends(key, this.#engine.clock.now())) return
    if (!this.#link.isUp) return otherwise()
    const { schedule } = rulesOf(definition)
    const until = this.#engine.hearing.storeNow + Math.max(leastUseMs, schedule.periodMs)
    const job = this.jobFor(definition, target, { turn: null, until, id: `ask:${key}` })
    if (job === undefined) return
    void this.#engine.background.track(this.#link.add([job]).catch(otherwise))
  }

  /** They are due, and no turn of theirs seems to be planned. Tells whether the queue has taken them. */
  async due(definition: AheadDefinition, keys: readonly Upkeep[]): Promise<boolean> {
    const { periodMs, leastGapMs: gapMs } = rulesOf(definition).schedule
    const until = this.#engine.hearing.storeNow + Math.max(leastUseMs, periodMs)
    const jobs = keys.map(({ target, dueAt: at }) => {
      const turn = { at, gapMs }
      const id = `due:${target.key}`
      return this.jobFor(definition, target, { turn, until, id, priority: priorities.due })
    })
    try {
      await this.#link.add(jobs.filter((job) => job !== undefined))
      return true
    } catch {
      return false
    }
  }

  /** Of each key, spread over the period that begins then. */
  async plan(
    definition: AheadDefinition,
    targets: readonly Target[],
    begin: number,
  ): Promise<void> {
    const { schedule } = rulesOf(definition)
    const { end } = schedule.periodAt(begin)
    const next = end === Infinity ? begin + schedule.twoPeriodsMs : end
    for (let n = 0; n < targets.length; n += perSlice) {
      const now = this.#engine.hearing.storeNow
      const jobs = targets.slice(n, n + perSlice).map((target) => {
        const shift = shareOf(target.key) * schedule.spreadMs
        const at = begin + shift
        return this.jobFor(definition, target, {
          turn: { at, gapMs: schedule.leastGapMs },
          until: next + shift,
          id: `${at}:${target.key}`,
          priority: priorities.turn,
          delay: Math.max(0, Math.ceil(at - now)),
        })
      })
      await this.#link.add(jobs.filter((job) => job !== undefined))
      await this.#engine.turn()
    }
  }

  /** `undefined`: its argument cannot be in a job, which was told. */
  jobFor(
    definition: AheadDefinition,
    target: Target,
    how: {
      readonly turn: Turn | null
      readonly until: number
      readonly id: string
      readonly priority?: number
      readonly delay?: number
    },
  ): NewJob | undefined {
    const { key, source } = target
    const { turn, until, id, priority, delay } = how
    try {
      const arg = encodeArg(definition, target)
      const data: RefreshData = { name: source.name, key, arg, turn, until }
      const attempts = this.#attempts ?? Math.max(6, rulesOf(definition).alerts.failures)
      return {
        name: refreshName,
        data,
        opts: {
          attempts,
          backoff: { type: 'breakwater' },
          deduplication: { id },
          ...(priority === undefined ? {} : { priority }),
          ...(delay === undefined ? {} : { delay }),
        },
      }
    } catch (error) {
      callbackFailed(this.#engine, { name: source.name, key }, 'precompute.args', error)
      return undefined
    }
  }
}

export function rulesOf({ source }: AheadDefinition): PrecomputeRules {
  return source.rules.precompute!
}
