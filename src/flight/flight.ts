/**
 * One run of the work behind a read of one key, shared by this process's callers. It knows who is
 * still interested and whether what it has seen is outdated; what the work is, it does not know.
 *
 * Invariant: one caller's abort never changes what another caller gets. Only when the last one has
 * left is the work told (`abandoned`), and whoever comes after that decision starts a new flight.
 */
import type { LoadTrace } from '../core/events.ts'
import type { Clock } from '../ports.ts'
import { deferred } from './deferred.ts'
import { enclosing, waitFor, type Waitable } from './nesting.ts'
import type { Place } from './limiter.ts'
import { onAbort } from './on-abort.ts'

/** `ask`: the store's answer is under way. `wait`, `queue`: nothing seen yet. `load`, `publish`: a value of then. */
export type Phase = 'ask' | 'wait' | 'queue' | 'load' | 'publish'

export interface JoinOptions<A> {
  readonly clock: Clock
  readonly signal: AbortSignal | undefined
  /** What is left of this caller's patience. */
  readonly timeoutMs: number | undefined
  /** After this long, `cover` may answer; the caller waits on where it does not. */
  readonly softMs: number | undefined
  /** The stale value that this caller may be given instead. */
  cover(): A | undefined
  /** The error of a caller whose patience has ended. */
  gaveUp(): unknown
}

/** `read`: nothing could be served, so there is nothing better to do than to join it. */
export type Purpose = 'read' | 'refresh' | 'background'

export interface FlightInit<W> {
  readonly key: string
  readonly purpose: Purpose
  readonly work: W
  readonly now: number
}

/** What the work behind a flight lets others do to it. Each is set only while it can act on it. */
export interface Controls {
  /** Nobody is interested any more. */
  abandoned: (() => void) | undefined
  /** Stops the load that runs, with a reason. */
  stop: ((reason: unknown) => void) | undefined
  /** A first caller has joined. */
  wanted: (() => void) | undefined
  /** Lets a load that queues begin at once: one who holds a place waits for it. */
  hurry: (() => void) | undefined
  /** What the work knows of an older value is stale or unusable from now on. */
  outdated: ((how: 'expired' | 'gone') => void) | undefined
}

/** `W`: what the work knows of itself, for those who share the flight. */
export class Flight<A, W> implements Waitable {
  readonly work: W
  readonly key: string
  readonly owner: object
  readonly parent = enclosing()
  readonly purpose: Purpose
  readonly begunAt: number
  readonly waitsFor = new Map<Waitable, number>()
  readonly controls: Controls = {
    abandoned: undefined,
    stop: undefined,
    wanted: undefined,
    hurry: undefined,
    outdated: undefined,
  }
  phase: Phase = 'wait'
  /** An invalidation came while the current attempt was under way: its result is never kept. */
  outdated = false
  /** When the load began, once it has. */
  startedAt: number | undefined
  /** Counts of gaps in hearing and of changes by tag when the load began. */
  trust = 0
  tick = 0
  /** Highest epoch that was known when the load began. */
  asOf = 0
  /** For others, who load the same: in this process or elsewhere. */
  hasWaited = false
  /** When its time in the limiter's queue is over, once it has queued. */
  queueUntil: number | undefined
  /** Kept when the lease was lost in the queue: the next one loads from it at once. */
  place: Place | undefined
  /** The loader has ended, or was given up. */
  over = false
  /** Abandoned for good: the work is to end as soon as it notices. */
  doomed = false
  /** One who holds a place in the limiter waits for it. */
  hurried = false
  /** Of the load, once it has begun. */
  trace: LoadTrace | undefined

  readonly #result = deferred<A>()
  #callers = 0
  #content = 0
  #keep: boolean

  constructor(owner: object, init: FlightInit<W>) {
    const { key, purpose, work, now } = init
    this.owner = owner
    this.work = work
    this.key = key
    this.purpose = purpose
    this.begunAt = now
    this.#keep = purpose === 'background'
  }

  /** Has it begun to see a state of the key that an invalidation would make old? */
  get hasSeen(): boolean {
    return this.phase !== 'wait' && this.phase !== 'queue'
  }

  /** Who wait for it now: neither those who gave up, nor those who have a stale value meanwhile. */
  get callers(): number {
    return this.#callers - this.#content
  }

  get isWanted(): boolean {
    return this.#callers > 0
  }

  /** Nobody waits for it: what is served meanwhile is an older value. */
  get isBackground(): boolean {
    return this.purpose === 'background' && !this.isWanted
  }

  get deserted(): boolean {
    return !this.#keep && this.#callers === 0
  }

  /** Settles when the work has a value, or none. */
  get result(): Promise<A> {
    return this.#result.promise
  }

  join(options: JoinOptions<A>): Promise<A> {
    const parent = enclosing()
    const { signal, timeoutMs, softMs } = options
    if (
      signal === undefined &&
      timeoutMs === undefined &&
      softMs === undefined &&
      parent === undefined
    ) {
      this.#come() // never leaves: no book-keeping for the ordinary call
      return this.#result.promise
    }
    return this.#joinAndLeave(options, parent)
  }

  async #joinAndLeave(options: JoinOptions<A>, parent: Waitable | undefined): Promise<A> {
    const { signal, timeoutMs, softMs, clock } = options
    const ends: (() => void)[] = []
    if (parent !== undefined) {
      ends.push(waitFor(parent, this))
      if (parent.owner === this.owner) {
        this.hurried = true
        this.controls.hurry?.()
      }
    }
    this.#come()
    try {
      return await new Promise<A>((resolve, reject) => {
        this.#result.promise.then(resolve, reject)
        // The call gives up or is content, the work goes on: callers who are all in a hurry must
        // not keep a slow load from ever being finished.
        const leaveBehind = (): void => {
          this.#keep = true
          this.#content++
        }
        const answerStale = (): boolean => {
          const stale = options.cover()
          if (stale === undefined) return false
          leaveBehind()
          resolve(stale)
          return true
        }
        if (signal !== undefined) {
          const leave = (): void => {
            reject(signal.reason)
            if (--this.#callers === 0 && this.deserted) this.controls.abandoned?.()
          }
          if (signal.aborted) return leave()
          ends.push(onAbort(signal, leave))
        }
        if (softMs !== undefined) ends.push(clock.after(softMs, answerStale))
        if (timeoutMs !== undefined) {
          const giveUp = (): void => {
            if (answerStale()) return
            leaveBehind()
            reject(options.gaveUp())
          }
          ends.push(clock.after(timeoutMs, giveUp))
        }
      })
    } finally {
      for (const end of ends) end()
    }
  }

  #come(): void {
    if (this.#callers++ === 0) this.controls.wanted?.()
  }

  resolve(answer: A): void {
    this.#result.resolve(answer)
  }

  reject(error: unknown): void {
    this.#result.reject(error)
  }

  /** Somebody else may need it: nothing is loaded from it now. */
  leavePlace(): void {
    this.place?.leave()
    this.place = undefined
    this.queueUntil = undefined
  }
}
