/**
 * The store as the engine may use it: every operation under a deadline of our own and behind the
 * breaker, since no client's defaults are safe (with a frozen server they wait for longer than 9 s).
 * While the breaker is open nothing waits for the store; a probe finds out when it is back.
 *
 * Invariant: an operation settles within `storeTimeout` (before the client was ready for the first
 * time: `connectTimeout`, once), and what comes later than that is handed to whoever cleans up.
 */
import { Breaker } from '../core/breaker.ts'
import { BreakwaterError } from '../core/errors.ts'
import type { Beat, BusMessage, Clock, StorePort, StoreSession } from '../ports.ts'
import { Deadlines, type Pending } from './deadlines.ts'

export interface AccessOptions {
  readonly store: StorePort
  readonly namespace: string
  readonly id: string
  readonly clock: Clock
  readonly storeTimeoutMs: number
  readonly connectTimeoutMs: number
  /** Runs in the cache's own context. */
  detached<T>(run: () => T): T
  onMessage(message: BusMessage): void
  onBus(state: 'up' | 'down'): void
  onFailed(operation: string, error: unknown): void
  onBreaker(state: 'open' | 'closed'): void
  /** Sends a beat and takes in what it brings. */
  beat(session: StoreSession): Promise<Beat>
  /** The store answers again; until this has settled well, nobody else is let through. */
  recover(session: StoreSession): Promise<void>
}

const probeMs = { first: 100, most: 1000 }

export class StoreAccess {
  readonly session: StoreSession
  readonly #options: AccessOptions
  readonly #clock: Clock
  readonly #breaker = new Breaker()
  readonly #deadlines: Deadlines
  #state: 'connecting' | 'up' | 'down' | 'closed' = 'connecting'
  #settled: Promise<void>
  #settle!: () => void
  #stopConnecting: () => void
  #stopProbe: (() => void) | undefined
  #probing = false
  #heard = 0

  constructor(options: AccessOptions) {
    this.#options = options
    this.#clock = options.clock
    this.#deadlines = new Deadlines(options.clock, options.storeTimeoutMs, options.detached)
    this.#settled = new Promise((resolve) => (this.#settle = resolve))
    this.#stopConnecting = options.clock.after(options.connectTimeoutMs, () => {
      if (this.#state === 'connecting') this.#down(gone('it was not ready within connectTimeout'))
    })
    this.session = options.store.open({
      namespace: options.namespace,
      clock: options.clock,
      id: options.id,
      onMessage: options.onMessage,
      onBus: options.onBus,
      onReady: (ready) => this.#onReady(ready),
      onFault: (error) => options.onFailed('connection', error),
    })
    if (this.session.ready && this.#state === 'connecting') this.#onReady(true)
  }

  get isUp(): boolean {
    return this.#state === 'up'
  }

  /** Answers at once, and then `STORE_UNAVAILABLE` can be had without asking. */
  get isDown(): boolean {
    return this.#state === 'down' || this.#state === 'closed'
  }

  /**
   * Rejects with `STORE_UNAVAILABLE` when the store is gone, in whatever way. `late` gets a result
   * that came after its deadline (a lease nobody wants any more).
   */
  call<T>(
    operation: string,
    run: (session: StoreSession) => Promise<T>,
    late?: (result: T) => void,
  ): Promise<T> {
    switch (this.#state) {
      case 'up':
        return this.#timed(operation, run, late)
      case 'connecting':
        return this.#settled.then(() => this.call(operation, run, late))
      case 'down':
      case 'closed':
        return Promise.reject(gone('it is not answering'))
    }
  }

  #timed<T>(
    operation: string,
    run: (session: StoreSession) => Promise<T>,
    late: ((result: T) => void) | undefined,
  ): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      const heardBefore = this.#heard
      const pending: Pending = {
        sentAt: this.#clock.now(),
        expire: (now) => {
          pending.expire = undefined
          const error = gone(`${operation} took longer than ${this.#options.storeTimeoutMs} ms`)
          this.#options.onFailed(operation, error)
          if (this.#breaker.overdue(this.#heard > heardBefore, now)) this.#down(error)
          reject(error)
        },
      }
      this.#deadlines.add(pending)
      run(this.session).then(
        (result) => {
          this.#heard++
          if (pending.expire === undefined) return late?.(result)
          pending.expire = undefined
          resolve(result)
        },
        (error: unknown) => {
          if (pending.expire === undefined) return
          pending.expire = undefined
          this.#options.onFailed(operation, error)
          if (this.#breaker.fault(this.#clock.now())) this.#down(error)
          reject(gone(`${operation} failed`, error))
        },
      )
    })
  }

  #onReady(ready: boolean): void {
    if (this.#state === 'closed') return
    if (!ready) {
      // Before the first readiness a failed attempt to connect says nothing: connectTimeout decides.
      if (this.#state !== 'connecting' && this.#breaker.trip())
        this.#down(gone('the connection was lost'))
      return
    }
    if (this.#state === 'connecting') {
      this.#state = 'up'
      this.#stopConnecting()
      this.#settle()
      this.#beatOnce()
    } else if (this.#state === 'down') {
      this.#stopProbe?.()
      void this.#probe(probeMs.first)
    }
  }

  /** The first beat is sent before the reads that waited, so that the store's time is known to them. */
  #beatOnce(): void {
    this.call('beat', this.#options.beat).catch(() => {})
  }

  #down(error: unknown): void {
    if (this.#state === 'down' || this.#state === 'closed') return
    const wasConnecting = this.#state === 'connecting'
    this.#state = 'down'
    this.#breaker.trip()
    if (wasConnecting) {
      this.#stopConnecting()
      this.#settle()
      this.#options.onFailed('connect', error)
    }
    this.#options.onBreaker('open')
    this.#options.detached(() => this.#probeLater(probeMs.first))
  }

  #probeLater(ms: number): void {
    const jitter = 1 + this.#clock.random() / 4
    this.#stopProbe = this.#clock.after(Math.ceil(ms * jitter), () => {
      void this.#probe(Math.min(ms * 2, probeMs.most))
    })
  }

  async #probe(nextMs: number): Promise<void> {
    if (this.#state !== 'down' || this.#probing) return
    if (!this.session.ready) return this.#probeLater(nextMs)
    this.#probing = true
    try {
      await this.#timed('probe', this.#options.beat, undefined)
      await this.#options.recover(this.session)
      if (this.#state !== 'down') return
      this.#breaker.close()
      this.#state = 'up'
      this.#options.onBreaker('closed')
    } catch {
      if (this.#state === 'down') this.#probeLater(nextMs)
    } finally {
      this.#probing = false
    }
  }

  /** For `recover`: an operation under the deadline although the breaker is open. */
  during<T>(operation: string, run: (session: StoreSession) => Promise<T>): Promise<T> {
    return this.#timed(operation, run, undefined)
  }

  async close(): Promise<void> {
    if (this.#state === 'closed') return
    this.#state = 'closed'
    this.#stopConnecting()
    this.#settle()
    this.#stopProbe?.()
    this.#deadlines.expireAll(this.#clock.now())
    this.#deadlines.close()
    await this.session.close()
  }
}

function gone(why: string, cause?: unknown): BreakwaterError {
  return new BreakwaterError('STORE_UNAVAILABLE', `the store is unavailable: ${why}`, { cause })
}
