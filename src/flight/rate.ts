/**
 * How many loads may begin per second, in the whole fleet: by a token bucket that the store keeps,
 * and by one of this process's own while the store is not to be had. One question to the store is
 * under way at a time, for all who wait.
 */
import { TokenBucket, type Tokens } from '../core/token-bucket.ts'
import type { Clock } from '../ports.ts'

export interface RateOptions {
  readonly clock: Clock
  /** How long an answer may take. */
  readonly answerMs: number
  readonly perSecond: number
  /** The fleet's tokens; rejects, or `undefined`, where there are none to be had. */
  ask(wanted: number): Promise<Tokens> | undefined
  /** Runs in the cache's own context. */
  detached<T>(run: () => T): T
  /** Some have come, or it is time to ask again. */
  onTokens(): void
}

export class Rate {
  readonly #options: RateOptions
  readonly #own: TokenBucket
  /** Granted, and not used yet. Less than none: loads that could not wait began on credit. */
  #tokens = 0
  #isAsking = false
  #isClosed = false
  #stopWaiting: (() => void) | undefined

  constructor(options: RateOptions) {
    this.#options = options
    this.#own = new TokenBucket(options.perSecond)
  }

  get answerMs(): number {
    return this.#options.answerMs
  }

  /** An answer is under way. */
  get isAsking(): boolean {
    return this.#isAsking
  }

  /** One of those at hand. */
  take(): boolean {
    if (this.#tokens < 1) return false
    this.#tokens--
    return true
  }

  /** On credit, which is paid for at once, as time allows: not by whoever comes much later. */
  spend(): void {
    this.#tokens--
    this.want(0)
  }

  /** So many wait. */
  want(waiting: number): void {
    if (this.#isClosed || this.#isAsking || this.#stopWaiting !== undefined) return
    const { clock, ask, detached } = this.#options
    const wanted = waiting - this.#tokens
    if (wanted < 1) return
    const asked = detached(() => ask(wanted))
    if (asked === undefined) return this.#got(this.#own.take(wanted, clock.now()))
    this.#isAsking = true
    void asked
      .catch(() => this.#own.take(wanted, clock.now()))
      .then((tokens) => {
        this.#isAsking = false
        this.#got(tokens)
      })
  }

  /** Nobody waits: what is left is given up, others may have use for it. */
  rest(): void {
    this.#tokens = Math.min(this.#tokens, 0)
    if (this.#tokens < 0 && !this.#isClosed) return this.want(0)
    this.#stopWaiting?.()
    this.#stopWaiting = undefined
  }

  /** Whatever is answered later, no timer begins. */
  close(): void {
    this.#isClosed = true
    this.rest()
  }

  #got({ granted, waitMs }: Tokens): void {
    if (this.#isClosed) return
    const { clock, detached, onTokens } = this.#options
    this.#tokens += granted
    if (waitMs > 0) {
      this.#stopWaiting = detached(() =>
        clock.after(waitMs, () => {
          this.#stopWaiting = undefined
          onTokens()
        }),
      )
    }
    if (granted > 0) onTokens()
  }
}
