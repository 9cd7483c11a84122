/**
 * One refresh of one key in this process, and what it comes to: when the key is due next, when it may
 * be tried again, who is told.
 */
import type { Entry } from '../cache/entry.ts'
import type { PrecomputeRules } from '../cache/precompute-rules.ts'
import { refreshAhead } from '../cache/scheduled.ts'
import { BreakwaterError } from '../core/errors.ts'
import { dueAfter } from '../core/schedule.ts'
import { failed, resolve, type AlertsOf } from './alerts.ts'
import { fillOf, type Fill } from './fills.ts'
import type { Listing } from './listing.ts'
import type { Hands, Plan } from './plan.ts'
import type { Rounds } from './rounds.ts'
import { retryMs, takeFill, type Upkeep } from './upkeep.ts'

/** Between a change and the refresh that follows it by itself: changes often come in crowds. */
const settleMs = 50
/** There was no room for its load in this process: nobody asks for one again before. */
const overloadMs = 1_000

export interface MakingOptions {
  readonly hands: Hands
  readonly rules: PrecomputeRules
  readonly plan: Plan
  readonly rounds: Rounds
  readonly alerts: AlertsOf
  readonly listing: Listing
}

export class Making {
  readonly #options: MakingOptions

  constructor(options: MakingOptions) {
    this.#options = options
  }

  async refresh(key: Upkeep): Promise<void> {
    const { hands, rules, plan, listing } = this.#options
    const { engine } = hands
    const { schedule, alerts } = rules
    const { target, asked, changes } = key
    const run = ++key.runs
    key.place = 'work'
    const { now } = plan
    const { errorBackoffMs } = target.source.rules
    const backoffMs = retryMs(schedule, key, { now, errorBackoffMs, failures: alerts.failures })
    const found = typeof asked === 'object' ? asked : undefined
    const isGoodEnough = (entry: Entry): boolean => {
      // What is still believed of before the outage will soon not be.
      if (key.isStranded && entry.provisional === undefined) return false
      const isFresh = engine.clock.now() < entry.freshUntil
      if (found !== undefined) return isFresh && entry.startedAt >= found.since
      if (entry.uncacheable !== undefined || asked !== undefined) return isFresh
      return this.#dueAfter(key, fillOf(engine, entry)) > now
    }
    const how = { isGoodEnough, backoffMs, mayGoAlone: key.isStranded || found !== undefined }
    const done = await refreshAhead(engine, target, { ...how, found })
    // A change has overtaken it, and another has begun since.
    if (run !== key.runs) return void key.overtaken--
    key.place = undefined
    key.asked = undefined
    key.isSpread = false
    if (engine.state !== 'open') return
    if (done.type === 'stranded') {
      if (listing.isListed(key)) plan.strand(key)
      else listing.leave(key, -Infinity)
      return
    }
    key.isStranded = false
    if (done.type === 'failed') this.#failed(key, done, backoffMs)
    else if (key.changes === changes) {
      const { entry } = done.type === 'found' ? done : done.answer
      const isOwn = done.type === 'answered' && done.answer.outcome === 'loaded'
      key.tags = entry.tags
      const fill = fillOf(engine, entry)
      this.filled(key, fill, isOwn || (done.type === 'found' && key.isOwn))
      if (isOwn && this.isAlone(key)) key.aloneUntil = this.#dueAfter(key, fill)
    }
    if (!listing.isListed(key)) {
      // Or when it may be tried again.
      listing.leave(key, Math.max(key.retryAt, this.isAlone(key) ? key.aloneUntil : -Infinity))
      // What was loaded is of before the change, and is of no use.
    } else if (key.changes !== changes) this.#soon(key)
    else if (done.type === 'failed' && isOverload(done.error)) {
      // Whoever waits for it may ask before; all others of its kind would have no room either.
      plan.put(key, plan.now + backoffMs * (1 + this.#random() / 10))
    } else plan.next(key)
  }

  filled(key: Upkeep, fill: Fill, isOwn: boolean): void {
    const { plan, alerts, rounds, listing } = this.#options
    if (isOwn && key.expiresAt === undefined && key.changes === 0) key.first = fill.stamp
    const dueAt = this.#dueAfter(key, fill)
    const isNew = takeFill(key, dueAt, fill)
    if (isNew === undefined) return
    key.isOwn = isOwn
    if (dueAt <= plan.now) return
    resolve(alerts, key)
    if (isNew && listing.isListed(key)) rounds.refreshed(key)
    if (typeof key.place === 'object' && !key.isAsked) plan.next(key)
  }

  /** What there was of it is of no use any more: made anew before somebody asks. */
  changed(key: Upkeep): void {
    key.dueAt = this.#options.plan.now
    key.expiresAt = undefined
    key.aloneUntil = -Infinity
    key.changes++
    if (key.place === 'work' && key.overtaken === 0) {
      // What is loaded now is of before. It ends by itself, and nobody waits for that.
      key.overtaken++
      key.runs++
      key.place = undefined
    }
    if (key.place !== 'work' && key.place !== 'crew') this.#soon(key)
  }

  /** The store is gone, and no change of the key waits for it there. */
  isAlone(key: Upkeep): boolean {
    const { plan, hands } = this.#options
    return plan.isHeldUp(key) && hands.engine.outbox.waits(key.target.key) === undefined
  }

  /** What was made as the first of all is no reason to leave out the turn that follows. */
  #dueAfter(key: Upkeep, fill: Fill): number {
    const { schedule } = this.#options.rules
    const gapMs = fill.stamp === key.first ? 0 : schedule.leastGapMs
    return dueAfter(schedule, key.share, fill, gapMs)
  }

  #soon(key: Upkeep): void {
    const { plan } = this.#options
    // What is there may be of this period, and have been made stale.
    key.asked ??= 'look'
    plan.put(key, Math.max(plan.now + settleMs * (1 + this.#random()), key.retryAt))
  }

  #failed(
    key: Upkeep,
    { error, isOwn }: { readonly error: unknown; readonly isOwn: boolean },
    backoffMs: number,
  ): void {
    const { hands, plan, rounds, alerts } = this.#options
    const isOverloaded = isOverload(error)
    const waitMs = isOverloaded ? Math.min(backoffMs, overloadMs) : backoffMs
    key.retryAt = plan.now + waitMs * (1 + this.#random() / 10)
    // That says nothing of the source.
    if (isOverloaded) return
    // Of a load elsewhere everyone was told by its message.
    if (!isOwn && hands.engine.store?.session.hasBus === true) return
    rounds.failed()
    failed(alerts, key, error)
  }

  #random(): number {
    return this.#options.hands.engine.clock.random()
  }
}

/** This process had no room for the load. */
function isOverload(error: unknown): boolean {
  return error instanceof BreakwaterError && error.code === 'OVERLOADED'
}
