/**
 * What falls through: keys that are due, and of which no turn is planned (they are new, were changed,
 * their job was lost). They are looked at in the store, and what is due there, too, becomes a job.
 */
import type { AheadDefinition } from '../cache/ahead.ts'
import type { Engine } from '../cache/engine.ts'
import type { Entry } from '../cache/entry.ts'
import { forbidsLoad, modeOf } from '../cache/modes.ts'
import { newest } from '../cache/scheduled.ts'
import type { Plan } from '../refresh/plan.ts'
import type { Upkeep } from '../refresh/upkeep.ts'
import { rulesOf, type Asks } from './asks.ts'

/** Between a change and the refresh that follows it by itself: changes often come in crowds. */
const settleMs = 50
/** A job that had just ended when the change came was still taken for one under way: looked at again. */
const crossedMs = 300
/** How often the queue is asked for while it owes something. */
const owedMs = 100
const perLook = 100
const mostOverdue = 1_000

export interface Watched {
  readonly engine: Engine
  readonly definition: AheadDefinition
  readonly asks: Asks
  readonly time: Plan
  isListed(key: Upkeep): boolean
  filled(key: Upkeep, entry: Entry): void
}

export class Lookout {
  readonly #of: Watched
  readonly #changed = new Set<Upkeep>()
  /** The queue has not taken them yet. */
  readonly #owed = new Set<Upkeep>()
  /** Until when a key that is due has its job. */
  readonly #queuedUntil = new WeakMap<Upkeep, number>()
  #looks = false

  constructor(of: Watched) {
    this.#of = of
  }

  /** A refresh would load, and may not. */
  get isHeld(): boolean {
    const mode = modeOf(this.#of.engine, this.#of.definition.source)
    return forbidsLoad(mode, true) || mode === 'bypass'
  }

  /** All that are changed shortly after each other are looked at together. */
  changed(key: Upkeep): void {
    this.#changed.add(key)
    if (this.#changed.size > 1) return
    const { time, engine } = this.#of
    time.at(time.now + settleMs * (1 + engine.clock.random()), () => {
      const changed = [...this.#changed]
      this.#changed.clear()
      void this.look(changed)
      time.at(time.now + crossedMs, () => {
        const due = changed.filter((key) => this.#isForQueue(key))
        if (due.length > 0) void this.look(due)
      })
    })
  }

  /** At those that are overdue, unless it is at work with others: some of them, in turn. */
  overdue(keys: Iterable<Upkeep>): void {
    if (this.#looks) return
    const { time, definition } = this.#of
    const { now } = time
    const graceMs = Math.min(rulesOf(definition).alerts.lateMs / 2, 30_000)
    const found: Upkeep[] = []
    for (const key of keys) {
      if (key.dueAt + graceMs >= now || (this.#queuedUntil.get(key) ?? 0) > now) continue
      if (found.push(key) === mostOverdue) break
    }
    if (found.length === 0) return
    this.#looks = true
    void this.look(found).finally(() => {
      this.#looks = false
    })
  }

  /** What the store has of them; what is due becomes a job at once. Never rejects. */
  async look(keys: readonly Upkeep[]): Promise<void> {
    const { engine, definition, asks, time, filled } = this.#of
    const againMs = Math.max(1_000, rulesOf(definition).schedule.periodMs / 10)
    for (let n = 0; n < keys.length && engine.state === 'open'; n += perLook) {
      const some = keys.slice(n, n + perLook)
      await Promise.all(
        some.map(async (key) => {
          const entry = await newest(engine, key.target).catch(() => undefined)
          if (entry !== undefined && entry.uncacheable === undefined) filled(key, entry)
        }),
      )
      const due = some.filter((key) => this.#isForQueue(key))
      if (due.length === 0) continue
      if (await asks.due(definition, due)) {
        for (const key of due) this.#queuedUntil.set(key, time.now + againMs)
      } else this.#owe(due)
    }
  }

  #isForQueue(key: Upkeep): boolean {
    const { now } = this.#of.time
    if (this.isHeld || !this.#of.isListed(key)) return false
    return key.dueAt <= now && key.retryAt <= now
  }

  #owe(keys: readonly Upkeep[]): void {
    const isFirst = this.#owed.size === 0
    for (const key of keys) this.#owed.add(key)
    if (isFirst) this.#payLater()
  }

  #payLater(): void {
    const { time, asks } = this.#of
    time.at(time.now + owedMs, () => {
      if (!asks.isOpen) return this.#payLater()
      const owed = [...this.#owed]
      this.#owed.clear()
      void this.look(owed)
    })
  }
}
