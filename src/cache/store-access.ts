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
import { Deadlines, Pending } from './deadlines.ts'

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
  recover(): Promise<void>
}

const probeMs = { first: 100, most: 1_000 }
const reconnectAfterMs = 5_000

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
  #stopSuspecting: (() => void) | undefined
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
   * The hot path of a read: as `call`, without an error to make and without a promise to spare.
   * `take` gets the bytes at once when they arrive, `lost` stands in for every failure.
   */
  read<T>(
    key: string,
    take: (bytes: Uint8Array | undefined) => T | Promise<T>,
    lost: () => T,
  ): Promise<T> {
    if (this.#state === 'connecting') return this.#settled.then(() => this.read(key, take, lost))
    if (this.#state !== 'up') return Promise.resolve().then(lost)
    return new Promise<T>((resolve) => {
      const pending = this.#begin('read', () => resolve(lost()))
      this.session.read(key).then(
        (bytes) => {
          if (this.#end(pending)) resolve(take(bytes))
        },
        (error: unknown) => {
          if (this.#failed('read', pending, error)) resolve(lost())
        },
      )
    })
  }

  /** The same for many: one deadline for all of them, since they are one question. */
  readMany<T>(
    keys: readonly string[],
    take: (bytes: Uint8Array | undefined, n: number) => T | Promise<T>,
    lost: (n: number) => T,
  ): Promise<readonly T[]> {
    if (this.#state === 'connecting')
      return this.#settled.then(() => this.readMany(keys, take, lost))
    const allLost = (): readonly T[] => keys.map((_, n) => lost(n))
    if (this.#state !== 'up') return Promise.resolve().then(allLost)
    return new Promise((resolve) => {
      const pending = this.#begin('read', () => resolve(allLost()))
      this.session.readMany(keys).then(
        (frames) => {
          if (!this.#end(pending)) return
          let later = false
          const taken = frames.map((bytes, n) => {
            if (bytes instanceof Error) {
              this.#options.onFailed('read', bytes)
              return lost(n)
            }
            const one = take(bytes ?? undefined, n)
            later ||= one instanceof Promise
            return one
          })
          resolve(later ? Promise.all(taken) : (taken as T[]))
        },
        (error: unknown) => {
          if (this.#failed('read', pending, error)) resolve(allLost())
        },
      )
    })
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
      const pending = this.#begin(operation, reject)
      run(this.session).then(
        (result) => {
          if (this.#end(pending)) resolve(result)
          else late?.(result)
        },
        (error: unknown) => {
          if (this.#failed(operation, pending, error))
            reject(gone(`${operation} failed: ${(error as Error)?.message ?? error}`, error))
        },
      )
    })
  }

  /** Under the deadline from now on. */
  #begin(operation: string, overdue: (error: unknown) => void): Pending {
    const pending = new Pending(this.#clock.now(), this.#heard, this.session.received(), (now) => {
      const { storeTimeoutMs } = this.#options
      const error =
        this.#state === 'down' || this.#state === 'closed'
          ? gone(`it stopped answering during ${operation}`)
          : gone(`${operation} took longer than ${storeTimeoutMs} ms`)
      // Cut off by our own end: no fault of the store.
      if (this.#state !== 'closed') this.#options.onFailed(operation, error)
      if (this.#breaker.overdue(this.#heardSince(pending), now)) this.#down(error)
      else this.#suspect(error)
      overdue(error)
    })
    this.#deadlines.add(pending)
    return pending
  }

  /** An answer came. False: too late, whoever asked was told otherwise. */
  #end(pending: Pending): boolean {
    this.#heard++
    return this.#deadlines.end(pending)
  }

  /** True: in time, and to be told. A refusal is an answer; all else is a store that does not give any. */
  #failed(operation: string, pending: Pending, error: unknown): boolean {
    const refused = this.session.isRefusal(error)
    if (refused) this.#heard++
    if (!this.#deadlines.end(pending)) return false
    this.#options.onFailed(operation, error)
    const now = this.#clock.now()
    if (!refused && this.#breaker.overdue(this.#heardSince(pending), now)) this.#down(error)
    return true
  }

  /**
   * What was heard since it was sent may have been under way before, from a server that has stopped
   * since: a moment of silence more, with this one still unanswered, says so.
   */
  #suspect(error: unknown): void {
    if (this.#state !== 'up' || this.#stopSuspecting !== undefined) return
    const heard = this.#heard
    const received = this.session.received()
    const ms = Math.ceil(this.#options.storeTimeoutMs / 4)
    this.#stopSuspecting = this.#clock.after(ms, () => {
      this.#stopSuspecting = undefined
      if (this.#state !== 'up' || this.#heard !== heard) return
      if (this.session.received() === received) this.#down(error)
    })
  }

  /** Did a reply, or a byte of one, come since it was sent? A slow big reply fails only itself. */
  #heardSince(pending: Pending): boolean {
    return this.#heard !== pending.heard || this.session.received() !== pending.received
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
      this.#stopConnecting()
      void this.#begun()
    } else if (this.#state === 'down') {
      this.#stopProbe?.()
      void this.#probe(probeMs.first)
    }
  }

  /** With the first beat: what is written and read is in the store's time, which it brings. */
  async #begun(): Promise<void> {
    try {
      await this.#timed('beat', this.#options.beat, undefined)
      if (this.#state === 'connecting') this.#state = 'up'
    } catch (error) {
      if (this.#state === 'connecting') this.#down(error)
    }
    this.#settle()
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
    // Nothing waits for a store that is gone.
    this.#deadlines.expireAll(this.#clock.now())
    this.#options.detached(() => this.#probeLater(probeMs.first))
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
    if (!this.session.ready) return this.#probeLater(nextMs)
    this.#probing = true
    const sentAt = this.#clock.now()
    const stop = this.#clock.after(reconnectAfterMs, () => {
      // Nothing for so long: perhaps a new connection finds what this one has lost.
      if (this.#state === 'down') this.session.reconnect('commands')
    })
    try {
      await this.#options.beat(this.session)
      const late = this.#clock.now() - sentAt > this.#options.storeTimeoutMs
      if (late) await this.#options.beat(this.session)
      await this.#options.recover()
      if (this.#state !== 'down') return
      this.#breaker.close()
      this.#state = 'up'
      this.#options.onBreaker('closed')
    } catch {
      if (this.#state === 'down') this.#probeLater(nextMs)
    } finally {
      stop()
      this.#probing = false
    }
  }

  /** Under the deadline, although the breaker may be open: what makes up for an outage. */
  evenSo<T>(operation: string, run: (session: StoreSession) => Promise<T>): Promise<T> {
    // Nothing is parked on a client that waits for its server.
    if (this.#state === 'closed' || !this.session.ready) {
      return Promise.reject(gone('it is not connected'))
    }
    return this.#timed(operation, run, undefined)
  }

  async close(): Promise<void> {
    if (this.#state === 'closed') return
    this.#state = 'closed'
    this.#stopConnecting()
    this.#settle()
    this.#stopProbe?.()
    this.#stopSuspecting?.()
    this.#deadlines.expireAll(this.#clock.now())
    this.#deadlines.close()
    await this.session.close()
  }
}

function gone(why: string, cause?: unknown): BreakwaterError {
  return new BreakwaterError('STORE_UNAVAILABLE', `the store is unavailable: ${why}`, { cause })
}
