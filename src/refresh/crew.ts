/**
 * How many refreshes ahead are under way at once in this process: few, so that what has become due
 * while a host slept or the store was gone is no burst. The limiter bounds their loads among all
 * others'; here is what they may hold before they come to it (leases, places in its queue).
 */
import type { Engine } from '../cache/engine.ts'
import type { Agenda } from './agenda.ts'

export interface Job {
  /** Somebody waits for it. */
  readonly isAsked: boolean
  run(): Promise<void>
}

const most = 16
const patienceMs = 50
/** So many are begun before the event loop gets its turn. */
const perTurn = 64

export class Crew {
  readonly #engine: Engine
  readonly #agenda: Agenda
  readonly #asked = new Set<Job>()
  readonly #due = new Set<Job>()
  #running = 0
  #waits = false
  #done = 0
  #pauses = false

  constructor(engine: Engine, agenda: Agenda) {
    this.#engine = engine
    this.#agenda = agenda
  }

  enter(job: Job): void {
    ;(job.isAsked ? this.#asked : this.#due).add(job)
    this.#next()
  }

  /** Somebody waits for it from now on. */
  hurry(job: Job): void {
    if (!this.#due.delete(job)) return
    this.#asked.add(job)
    this.#next()
  }

  /** What is not under way yet is not begun. */
  close(): void {
    this.#asked.clear()
    this.#due.clear()
  }

  leave(job: Job): void {
    this.#asked.delete(job)
    this.#due.delete(job)
  }

  #next(): void {
    const { limiter } = this.#engine
    const room = Math.max(1, Math.min(most, Math.floor(limiter.limit / 2)))
    while (this.#running < room && !this.#pauses) {
      // Callers queue for a load of their own: what is only due goes one by one, and not never.
      const isHeld = limiter.queued > 0 && this.#running > 0
      const [job] = this.#asked.size > 0 || isHeld ? this.#asked : this.#due
      if (job === undefined) {
        if (isHeld && this.#due.size > 0) this.#nextLater()
        return
      }
      this.leave(job)
      this.#running++
      void job.run().finally(() => {
        this.#running--
        if (++this.#done % perTurn === 0) this.#pause()
        else this.#next()
      })
    }
  }

  /** Loaders that answer at once would else follow each other without an end in one turn. */
  #pause(): void {
    this.#pauses = true
    void this.#engine.turn().then(() => {
      this.#pauses = false
      this.#next()
    })
  }

  #nextLater(): void {
    if (this.#waits) return
    this.#waits = true
    this.#agenda.at(this.#engine.clock.now() + patienceMs, () => {
      this.#waits = false
      this.#next()
    })
  }
}
