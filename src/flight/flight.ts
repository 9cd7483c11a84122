/**
 * One run of the work behind a read of one key, shared by this process's callers. It knows who is
 * still interested and whether what it has seen is outdated; what the work is, it does not know.
 *
 * Invariant: one caller's abort never changes what another caller gets. Only when the last one has
 * left is the work told (`abandoned`), and whoever comes after that decision starts a new flight.
 */
import { BreakwaterError } from '../core/errors.ts'
import type { Clock } from '../ports.ts'
import { deferred } from './deferred.ts'
import { enclosing, waitFor, type Waitable } from './nesting.ts'

/** `look`, `ask`: the store's answer is under way. `wait`, `queue`: nothing seen yet. `load`, `publish`: a value of then. */
export type Phase = 'look' | 'ask' | 'wait' | 'queue' | 'load' | 'publish'

export interface JoinOptions {
  readonly clock: Clock
  readonly signal: AbortSignal | undefined
  readonly timeoutMs: number | undefined
  /** True: only the work's own end counts, not a stale value that is given out meanwhile. */
  readonly strict: boolean
}

export class Flight<A> implements Waitable {
  readonly key: string
  readonly owner: object
  readonly parent = enclosing()
  readonly background: boolean
  /** Begun because nothing could be served: there is nothing better to do than to join it. */
  readonly forCallers: boolean
  readonly waitsFor = new Map<Waitable, number>()
  phase: Phase = 'look'
  /** An invalidation came while the current attempt was under way: its result is never kept. */
  outdated = false
  /** When the load began, once it has. */
  startedAt: number | undefined
  /** Abandoned for good: the work is to end as soon as it notices. */
  doomed = false
  /** Tells the work that nobody is interested any more. Set by the work, where it can act on it. */
  abandoned: (() => void) | undefined
  /** Stops the load that runs, with a reason. Set by the work. */
  stop: ((reason: unknown) => void) | undefined
  /** The stale value that may be given to one who waits no longer. Set by the work. */
  cover: (() => A | undefined) | undefined
  /** What the work knows of an older value was invalidated. Set by the work. */
  forget: (() => void) | undefined
  /** What is given out before the work's end (softTimeout). */
  early: A | undefined

  readonly #result = deferred<A>()
  readonly #answer = deferred<A>()
  #callers = 0
  #keep: boolean

  constructor(owner: object, key: string, purpose: 'read' | 'refresh' | 'background') {
    this.owner = owner
    this.key = key
    this.background = purpose === 'background'
    this.forCallers = purpose === 'read'
    this.#keep = this.background
  }

  /** Has it begun to see a state of the key that an invalidation would make old? */
  get hasSeen(): boolean {
    return this.phase !== 'wait' && this.phase !== 'queue'
  }

  get isWanted(): boolean {
    return this.#callers > 0
  }

  get deserted(): boolean {
    return !this.#keep && this.#callers === 0
  }

  /** Resolves when the work is over, however it ended. */
  get result(): Promise<A> {
    return this.#result.promise
  }

  join(options: JoinOptions): Promise<A> {
    const promise = options.strict ? this.#result.promise : this.#answer.promise
    const parent = enclosing()
    const { signal, timeoutMs } = options
    if (signal === undefined && timeoutMs === undefined && parent === undefined) {
      this.#callers++ // never leaves: no book-keeping for the ordinary call
      return promise
    }
    return this.#joinAndLeave(promise, options, parent)
  }

  async #joinAndLeave(
    promise: Promise<A>,
    options: JoinOptions,
    parent: Waitable | undefined,
  ): Promise<A> {
    const { signal, timeoutMs, clock } = options
    const waited = parent === undefined ? undefined : waitFor(parent, this)
    let stopTimer: (() => void) | undefined
    let onAbort: (() => void) | undefined
    this.#callers++
    try {
      return await new Promise<A>((resolve, reject) => {
        promise.then(resolve, reject)
        if (signal !== undefined) {
          onAbort = () => {
            reject(signal.reason)
            if (--this.#callers === 0 && this.deserted) this.abandoned?.()
          }
          if (signal.aborted) return onAbort()
          signal.addEventListener('abort', onAbort, { once: true })
        }
        if (timeoutMs !== undefined) {
          // The call gives up, the work goes on: callers who are all in a hurry must not keep a
          // slow load from ever being finished.
          stopTimer = clock.after(timeoutMs, () => {
            this.#keep = true
            const stale = options.strict ? undefined : this.cover?.()
            if (stale !== undefined) return resolve(stale)
            reject(
              new BreakwaterError('WAIT_TIMEOUT', `${this.key}: no value within ${timeoutMs} ms`, {
                key: this.key,
              }),
            )
          })
        }
      })
    } finally {
      if (onAbort !== undefined) signal?.removeEventListener('abort', onAbort)
      stopTimer?.()
      waited?.()
    }
  }

  /** Gives callers who take it a stale value now; the work goes on without them. */
  answerEarly(answer: A): void {
    this.early = answer
    this.#keep = true
    this.#answer.resolve(answer)
  }

  resolve(answer: A): void {
    this.#result.resolve(answer)
    this.#answer.resolve(answer)
  }

  reject(error: unknown): void {
    this.#result.reject(error)
    this.#answer.reject(error)
  }
}
