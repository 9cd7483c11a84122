/**
 * One server of the store as seen from here: its breaker, the deadlines of what it was asked, and
 * the probe that finds out when it is back. A store of one server has one lane, a cluster one for
 * each master: what one of them does not answer is no fault of the others.
 *
 * Invariant: while it is down nothing waits for it.
 */
import { Breaker } from '../core/breaker.ts'
import { BreakwaterError } from '../core/errors.ts'
import { longestTimerMs } from '../core/lifetime.ts'
import type { Clock, Site } from '../ports.ts'
import { Deadlines, Pending } from './deadlines.ts'
import { Ramp } from './ramp.ts'

export interface LaneOptions {
  readonly clock: Clock
  readonly storeTimeoutMs: number
  /** Runs in the cache's own context. */
  detached<T>(run: () => T): T
  /** Changes whenever anything came in from this server. */
  received(): number
  /** Is it the store's own answer? Then the server is there. */
  isRefusal(error: unknown): boolean
  /** Did the server say so at all? Then it is not silent. */
  isReply(error: unknown): boolean
  /** Whether the client could send now. */
  isReady(): boolean
  reconnect(): void
  /** Resolves when whoever keeps this site has answered. */
  ask(site: Site): Promise<unknown>
  /** It answers again; until this has settled well, nobody else is let through. */
  recover(): Promise<void>
  onFailed(operation: string, error: unknown): void
  onDown(error: unknown): void
  onUp(): void
}

const probeMs = { first: 100, most: 1_000 }
/** So that all is well within 5 s where a new connection works. */
const reconnectAfterMs = 4_000

export class Lane {
  /** Something that is kept there: what was asked about last. */
  site: Site
  readonly #options: LaneOptions
  readonly #clock: Clock
  readonly #breaker = new Breaker()
  readonly #deadlines: Deadlines
  #state: 'up' | 'down' | 'closed' = 'up'
  /** It has just come back. */
  #ramp: Ramp | undefined
  #stopProbe: (() => void) | undefined
  #stopSuspecting: (() => void) | undefined
  #stopAsking: (() => void) | undefined
  #probing = false
  #patienceMs = reconnectAfterMs
  #firstProbeMs = probeMs.first
  #upAt = -Infinity
  #heard = 0

  constructor(options: LaneOptions) {
    this.#options = options
    this.#clock = options.clock
    this.#deadlines = new Deadlines(options.clock, options.storeTimeoutMs, options.detached)
  }

  get isUp(): boolean {
    return this.#state === 'up'
  }

  get isRamping(): boolean {
    return this.#ramp !== undefined
  }

  /**
   * Under the deadline, up or down. Rejects with `STORE_UNAVAILABLE` when there is no answer; `late`
   * gets a result that came after the deadline.
   */
  run<T>(operation: string, work: () => Promise<T>, late?: (result: T) => void): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      const pending = this.begin(operation, reject)
      this.sent(pending, work).then(
        (result) => {
          if (this.end(pending)) resolve(result)
          else late?.(result)
        },
        (error: unknown) => {
          if (this.failed(operation, pending, error)) reject(failure(operation, error))
        },
      )
    })
  }

  /** Under the deadline from now on. */
  begin(operation: string, overdue: (error: unknown) => void): Pending {
    const { received, storeTimeoutMs, onFailed } = this.#options
    const pending = new Pending(this.#clock.now(), this.#heard, received(), (now) => {
      const error =
        this.#state === 'up'
          ? gone(`${operation} took longer than ${storeTimeoutMs} ms`)
          : gone(`it stopped answering during ${operation}`)
      // Cut off by our own end: no fault of the store.
      if (this.#state !== 'closed') onFailed(operation, error)
      if (this.#breaker.overdue(this.#heardSince(pending), now)) this.lose(error)
      else this.#suspect(error)
      overdue(error)
    })
    this.#deadlines.add(pending)
    return pending
  }

  /** Sends it: at once, unless the server has just come back and has enough to do. */
  sent<T>(pending: Pending, send: () => Promise<T>): Promise<T> {
    return this.#ramp === undefined ? send() : this.#ramp.send(pending, send)
  }

  /** An answer came. False: too late, whoever asked was told otherwise. */
  end(pending: Pending): boolean {
    this.#heard++
    return this.#deadlines.end(pending)
  }

  /** True: in time, and to be told. A refusal is an answer; any other reply is a fault, but no silence. */
  failed(operation: string, pending: Pending, error: unknown): boolean {
    const refused = this.#options.isRefusal(error)
    if (refused || this.#options.isReply(error)) this.#heard++
    if (!this.#deadlines.end(pending)) return false
    this.#options.onFailed(operation, error)
    const now = this.#clock.now()
    if (!refused && this.#breaker.overdue(this.#heardSince(pending), now)) this.lose(error)
    return true
  }

  /** Down from now on, until a probe is answered. */
  lose(error: unknown): void {
    if (this.#state !== 'up') return
    this.#state = 'down'
    this.#breaker.trip()
    this.#ramp = undefined
    this.#options.onDown(error)
    // Nothing waits for a server that is gone.
    this.#deadlines.expireAll(this.#clock.now())
    // Answers probes and nothing else (LOADING, MOVED …): not up and down all the time.
    const isAgain = this.#clock.now() - this.#upAt < probeMs.most
    this.#firstProbeMs = isAgain ? Math.min(this.#firstProbeMs * 2, probeMs.most) : probeMs.first
    this.#options.detached(() => this.#probeLater(this.#firstProbeMs))
  }

  /** The client says that it has a connection again. */
  probeNow(): void {
    if (this.#state !== 'down') return
    this.#stopProbe?.()
    void this.#probe(probeMs.first)
  }

  close(): void {
    if (this.#state === 'closed') return
    this.#state = 'closed'
    this.#stopProbe?.()
    this.#stopSuspecting?.()
    this.#stopAsking?.()
    this.#deadlines.expireAll(this.#clock.now())
    this.#deadlines.close()
  }

  /**
   * What was heard since it was sent may have been under way before, from a server that has stopped
   * since: a moment of silence more, with this one still unanswered, says so.
   */
  #suspect(error: unknown): void {
    if (this.#state !== 'up' || this.#stopSuspecting !== undefined) return
    const heard = this.#heard
    const received = this.#options.received()
    const ms = Math.ceil(this.#options.storeTimeoutMs / 4)
    this.#stopSuspecting = this.#clock.after(ms, () => {
      this.#stopSuspecting = undefined
      if (this.#state !== 'up' || this.#heard !== heard) return
      if (this.#options.received() === received) this.lose(error)
    })
  }

  /** Did a reply, or a byte of one, come since it was sent? A slow big reply fails only itself. */
  #heardSince(pending: Pending): boolean {
    return this.#heard !== pending.heard || this.#options.received() !== pending.received
  }

  #probeLater(ms: number): void {
    const jitter = 1 + this.#clock.random() / 4
    this.#stopProbe = this.#clock.after(Math.ceil(ms * jitter), () => {
      void this.#probe(Math.min(ms * 2, probeMs.most))
    })
  }

  /** One probe at a time on a connection: they must not pile up on one that is dead. */
  async #probe(nextMs: number): Promise<void> {
    if (this.#state !== 'down' || this.#probing) return
    const { storeTimeoutMs, isReady, recover, onUp } = this.#options
    if (!isReady()) return this.#probeLater(nextMs)
    this.#probing = true
    const sentAt = this.#clock.now()
    try {
      await this.#ask()
      // What was held up may be of before: another one, to know that it answers now.
      const late = this.#clock.now() - sentAt > storeTimeoutMs
      if (late && this.#state === 'down') await this.#ask()
      if (this.#state === 'down') await recover()
      if (this.#state !== 'down') return
      this.#breaker.close()
      this.#state = 'up'
      const ramp = new Ramp(() => {
        if (this.#ramp === ramp) this.#ramp = undefined
      })
      this.#ramp = ramp
      this.#upAt = this.#clock.now()
      onUp()
    } catch {
      if (this.#state === 'down') this.#probeLater(nextMs)
    } finally {
      this.#probing = false
    }
  }

  /** Nothing for long: perhaps a new connection, and another question, find what this one has lost. */
  async #ask(): Promise<void> {
    const silence = new Promise<never>((_, reject) => {
      this.#stopAsking = this.#clock.after(this.#patienceMs, () => {
        if (this.#state === 'down') this.#options.reconnect()
        // Where that does not end what was asked, questions must not pile up.
        this.#patienceMs = Math.min(this.#patienceMs * 2, longestTimerMs)
        reject(gone('a probe was not answered'))
      })
    })
    try {
      await Promise.race([this.#options.ask(this.site), silence])
      this.#patienceMs = reconnectAfterMs
    } finally {
      this.#stopAsking?.()
    }
  }
}

export function gone(why: string, cause?: unknown): BreakwaterError {
  return new BreakwaterError('STORE_UNAVAILABLE', `the store is unavailable: ${why}`, { cause })
}

export function failure(operation: string, error: unknown): BreakwaterError {
  return gone(`${operation} failed: ${(error as Error)?.message ?? error}`, error)
}
