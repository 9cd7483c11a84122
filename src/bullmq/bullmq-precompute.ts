/** Refresh-ahead of one cache by a queue of BullMQ: its definitions, their schedulers, its end. */
import type { AheadDefinition } from '../cache/ahead.ts'
import type { Companion } from '../cache/companions.ts'
import type { Engine, Target } from '../cache/engine.ts'
import { BreakwaterError, invalidOption } from '../core/errors.ts'
import { makeBy, type Made } from '../refresh/ahead.ts'
import type { Hands } from '../refresh/plan.ts'
import { Asked } from './asked.ts'
import { Asks, rulesOf } from './asks.ts'
import { Leaving } from './leaving.ts'
import { Queued } from './queued.ts'
import { QueueLink } from './queue-link.ts'
import type { QueueOptions } from './queue-options.ts'
import { RefreshFailed, refreshOnce } from './refresh-work.ts'
import { ensureScheduler, nextRunOf, schedulerIdOf } from './schedulers.ts'
import { processJob, type Desk } from './work.ts'

const taken = new WeakSet<Engine>()
/** How long jobs under way may go on, and how long connections may take to end. */
const patienceMs = 5_000
const endMs = 1_000

export class BullmqPrecompute {
  readonly #options: QueueOptions
  readonly #engine: Engine
  readonly #link: QueueLink
  readonly #asks: Asks
  readonly #leaving = new Leaving()
  readonly #byName = new Map<string, Queued>()
  readonly #bySchedulers = new Map<string, Queued>()
  readonly #ensured: Promise<void>[] = []
  readonly #closed: Promise<never>
  #fail: (error: Error) => void = () => {}
  #desk: Desk | undefined
  #ending: Promise<void> | undefined

  constructor(options: QueueOptions) {
    const { engine, cache } = options
    if (taken.has(engine)) {
      throw invalidOption('bullmqPrecompute.cache', 'one that no other queue makes ahead', cache)
    }
    this.#options = options
    this.#engine = engine
    this.#link = new QueueLink(engine, options)
    this.#asks = new Asks(engine, this.#link, options.attempts)
    this.#closed = new Promise((_, reject) => {
      this.#fail = reject
    })
    this.#closed.catch(() => {})
    engine.detached(() => {
      // Refuses a cache that takes part itself; nothing is open until then.
      const waiting: (() => void)[] = []
      let isOpen = false
      makeBy(
        cache,
        (hands, definition) => {
          const { made, begin } = this.#make(hands, definition)
          if (isOpen) begin()
          else waiting.push(begin)
          return made
        },
        'bullmqPrecompute',
      )
      this.#link.open({
        process: (job, token) => this.#leaving.during(processJob(this.#desk!, job, token)),
        nextRun: (pattern, after) => nextRunOf(this.#scheduleOf(pattern), pattern, after),
        retryInMs: (error, attempts) =>
          error instanceof RefreshFailed
            ? error.retryInMs
            : Math.min(60_000, 500 * 2 ** Math.min(attempts, 10)),
      })
      isOpen = true
      for (const begin of waiting) begin()
    })
    taken.add(engine)
    engine.companions.add(this.#companion)
  }

  get ready(): Promise<void> {
    const all = Promise.all([this.#link.ready(), ...this.#ensured]).then(() => {})
    const ready = Promise.race([all, this.#closed])
    // Nobody need wait for it.
    ready.catch(() => {})
    return ready
  }

  close(): Promise<void> {
    const until = this.#engine.clock.now() + patienceMs
    return this.#end(() => this.#engine.clock.now() >= until)
  }

  #end(isOver: () => boolean): Promise<void> {
    this.#ending ??= (async () => {
      this.#leaving.begin()
      this.#fail(new BreakwaterError('CLOSED', 'bullmqPrecompute: it was closed'))
      await this.#link.close(async () => {
        while (this.#leaving.underWay > 0 && !isOver()) await this.#after(20)
        await this.#after(endMs)
      })
      this.#engine.companions.delete(this.#companion)
    })()
    return this.#ending
  }

  /** With the cache: as long as it lets loads go on, and until they have been given back. */
  readonly #companion: Companion = {
    close: () => {
      const ended = this.#end(() => this.#engine.state === 'closed')
      void this.#engine.background.track(ended)
      return ended
    },
  }

  #after(ms: number): Promise<void> {
    return new Promise((resolve) => void this.#engine.clock.after(ms, resolve))
  }

  #make(hands: Hands, definition: AheadDefinition): { made: Made; begin: () => void } {
    if (this.#options.worker === undefined) {
      return { made: new Asked(hands, definition, this.#asks), begin: () => {} }
    }
    const queued = new Queued(hands, definition, {
      asks: this.#asks,
      makeHere: (target) => this.#makeHere(hands, queued, target),
    })
    const { engine } = hands
    this.#desk ??= {
      engine,
      hands,
      link: this.#link,
      asks: this.#asks,
      options: this.#options,
      leaving: this.#leaving,
      byName: (name) => this.#byName.get(name),
      byScheduler: (scheduler) => this.#bySchedulers.get(scheduler),
    }
    const scheduler = schedulerIdOf(definition)
    this.#byName.set(definition.source.name, queued)
    this.#bySchedulers.set(scheduler, queued)
    return { made: queued, begin: () => this.#keepScheduled(queued, scheduler) }
  }

  /** Another process may take it for one that nobody needs, and the queue may be emptied. */
  #keepScheduled(queued: Queued, scheduler: string): void {
    const { periodMs } = rulesOf(queued.definition).schedule
    const againMs = Math.min(Math.max(periodMs / 2, 1_000), 30_000)
    let isEnsured: () => void = () => {}
    this.#ensured.push(new Promise((resolve) => (isEnsured = resolve)))
    const ensure = async (): Promise<void> => {
      let waitMs = againMs * (1 + this.#engine.clock.random() / 2)
      try {
        await ensureScheduler(this.#link, queued.definition, scheduler)
        isEnsured()
      } catch (error) {
        waitMs = Math.min(waitMs, 100 * 2 ** Math.min(tries++, 10))
        if (this.#link.isUp) this.#link.tell(error)
      }
      if (!this.#leaving.isOver) queued.at(queued.now + waitMs, () => void ensure())
    }
    let tries = 0
    void ensure()
  }

  #scheduleOf(pattern: string) {
    for (const { definition } of this.#byName.values()) {
      const { schedule } = rulesOf(definition)
      if (schedule.text === pattern) return schedule
    }
    return undefined
  }

  /** Somebody waits, and the queue cannot be asked: here, and under the lease where there is one. */
  #makeHere(hands: Hands, queued: Queued, target: Target): void {
    if (this.#leaving.isOver || this.#isHere.has(target.key)) return
    this.#isHere.add(target.key)
    const { definition } = queued
    hands.crew.enter({
      isAsked: true,
      run: async () => {
        const known = queued.known(target.key)
        const changes = known?.changes ?? 0
        const { backoff } = this.#options
        const work = { definition, target, turn: null, attempts: 0, backoff, known }
        const { done, backoffMs } = await refreshOnce(hands, work)
        queued.came(target, changes, done, backoffMs)
        this.#isHere.delete(target.key)
      },
    })
  }

  readonly #isHere = new Set<string>()
}
