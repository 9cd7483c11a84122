/**
 * With the store gone, a request pays `storeTimeout` at most once, and nothing while the breaker is
 * open (I5): by then it has its answer, or loads, or queues for a place.
 */
import type { Made } from './judge.ts'
import { patience } from './patience.ts'
import type { Server } from './server.ts'
import type { Timeline } from './timeline.ts'
import type { Verdict } from './verdict.ts'

export interface OutageWatchOptions {
  readonly timeline: Timeline
  readonly verdict: Verdict
  readonly server: Server
  readonly latencyMs: number
  /** Calls that have not settled. */
  readonly open: ReadonlySet<Made>
}

/** Timers are late by one millisecond each. */
const lateMs = 5
/** A silence is believed when it has lasted for a quarter of the timeout more (`cache/lane.ts`). */
const believedMs = patience.storeTimeout * 1.25 + lateMs

export class OutageWatch {
  readonly #options: OutageWatchOptions
  /** When a process was last asked for a row: the flight goes on when its caller has given up. */
  readonly #asked = new Map<string, number>()

  constructor(options: OutageWatchOptions) {
    this.#options = options
  }

  begun(made: Made): void {
    const { timeline, server, latencyMs } = this.#options
    const { process, begunAt } = made
    const since = server.silentSince
    if (since === undefined) {
      for (const row of made.rows) this.#asked.set(`${process.id} ${row.id}`, begunAt)
    }
    if (begunAt - process.bornAt < 2 * patience.connectTimeout) return
    if (process.isBreakerOpen) {
      const isStill = (): boolean => process.isBreakerOpen && process.breakerSince < begunAt
      timeline.after(lateMs, () => this.#judge(made, isStill, 'with the breaker open'))
      return
    }
    // What the server said before it stopped has arrived.
    if (since === undefined || begunAt - since < 4 * latencyMs + lateMs) return
    // Who joins a flight that waits for another process's load asks the store nothing: its patience
    // is `waitTimeout`.
    if (this.#joins(made, since)) return
    const isStill = (): boolean => server.silentSince === since
    timeline.after(believedMs, () => this.#judge(made, isStill, 'for a silent store'))
  }

  /** Somebody asked for it before the silence, and still waits, or has left a flight that does. */
  #joins({ process, rows }: Made, since: number): boolean {
    for (const row of rows) {
      const at = this.#asked.get(`${process.id} ${row.id}`) ?? -Infinity
      if (at <= since && at > since - patience.waitTimeout) return true
    }
    for (const other of this.#options.open) {
      if (other.process !== process || other.begunAt > since) continue
      if (other.rows.some((row) => rows.includes(row))) return true
    }
    return false
  }

  #judge(made: Made, isStill: () => boolean, what: string): void {
    const { timeline, verdict, open } = this.#options
    verdict.count('asked in outages')
    const { process, pausedMs, rows, verb, id } = made
    const { host, loads, cache, state } = process
    if (!open.has(made) || state !== 'open' || host.pausedMs !== pausedMs || !isStill()) return
    if (loads.isFull || cache.health().loads.queued > 0) return
    if (rows.some((row) => loads.isLoading(row))) return
    const text = `p${process.id} #${id} ${verb} ${rows[0]!.key}: waits ${what}, and nobody loads`
    verdict.violated('I5', timeline.now, text)
  }
}
