/**
 * What stands between the engine and a session: is there a connection yet, is the store's time
 * known, and by which lane does something go. What is asked over it stands in store-access.ts.
 */
import type { Beat, BusMessage, Clock, Site, StorePort, StoreSession } from '../ports.ts'
import { failure, gone, Lane } from './lane.ts'
import { Lanes } from './lanes.ts'

export interface LinkOptions {
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
  onEviction(policy: string): void
  /** `server`: of a cluster, which one. */
  onBreaker(state: 'open' | 'closed', server: string | undefined): void
  /** Sends a beat and takes in what it brings. */
  beat(session: StoreSession): Promise<Beat>
  /**
   * The store answers again, or one server of it. Until this has settled well, nobody else is let
   * through.
   */
  recover(server?: RecoveredServer): Promise<void>
  /** A server of the cluster that was none of it before: it may not have heard what others were told. */
  onNewServer(): void
}

export interface RecoveredServer {
  keeps(site: Site): boolean
  /** It may not have heard what the one before it was told. */
  readonly isAnother: boolean
}

export class StoreLink {
  readonly session: StoreSession
  readonly lanes: Lanes
  /** `connecting`: nobody knows yet whether there is a store; `settled` resolves when that is over. */
  state: 'connecting' | 'open' | 'closed' = 'connecting'
  readonly settled: Promise<void>
  readonly #options: LinkOptions
  #settle!: () => void
  #stopConnecting: () => void
  /** By a first beat: what is written and read is in the store's time. */
  #knowsTime = false
  #learning: Promise<unknown> | undefined

  constructor(options: LinkOptions) {
    this.#options = options
    this.settled = new Promise((resolve) => (this.#settle = resolve))
    this.#stopConnecting = options.clock.after(options.connectTimeoutMs, () =>
      this.#connected(gone('it was not ready within connectTimeout')),
    )
    this.session = options.store.open({
      namespace: options.namespace,
      clock: options.clock,
      id: options.id,
      onMessage: options.onMessage,
      onBus: options.onBus,
      onReady: (ready) => this.#onReady(ready),
      onEviction: options.onEviction,
      onFault: (error) => options.onFailed('connection', error),
    })
    this.lanes = new Lanes({
      shards: this.session.shards,
      make: (server) => this.#makeLane(server),
      onNew: (server, lane) => this.#met(server, lane),
    })
    if (this.session.ready && this.state === 'connecting') this.#onReady(true)
  }

  /** How much of the store answers. */
  get up(): 'all' | 'some' | 'none' {
    return this.state === 'open' ? this.lanes.up : 'none'
  }

  /** Of a cluster a beat asks several servers; one of them may be lost, and what that means is told elsewhere. */
  async beat(): Promise<unknown> {
    if (this.state === 'connecting') await this.settled
    if (this.up === 'none') throw gone('it is not answering')
    return this.#beat()
  }

  async close(): Promise<void> {
    if (this.state === 'closed') return
    this.state = 'closed'
    this.#stopConnecting()
    this.#settle()
    this.lanes.close()
    await this.session.close()
  }

  #onReady(ready: boolean): void {
    if (this.state === 'closed') return
    if (this.state === 'connecting') {
      // Before the first readiness a failed attempt to connect says nothing: connectTimeout decides.
      if (!ready) return
      this.#stopConnecting()
      this.#learnTime().then(
        () => this.#connected(),
        (error: unknown) => this.#connected(error),
      )
    } else if (ready) this.lanes.probeNow()
    else this.lanes.loseAll(gone('the connection was lost'))
  }

  /** The first attempt is over; with an error, in vain. */
  #connected(error?: unknown): void {
    if (this.state !== 'connecting') return
    this.state = 'open'
    this.#stopConnecting()
    this.lanes.begin()
    if (error !== undefined) {
      this.#options.onFailed('connect', error)
      this.lanes.loseAll(error)
    }
    this.#settle()
  }

  #learnTime(): Promise<unknown> {
    this.#learning ??= this.#beat()
      .then(() => (this.#knowsTime = true))
      .finally(() => (this.#learning = undefined))
    return this.#learning
  }

  #beat(): Promise<unknown> {
    const { session } = this
    const { beat, clock, storeTimeoutMs, onFailed } = this.#options
    if (session.shards === undefined) {
      return this.lanes.at(undefined).run('beat', () => beat(session))
    }
    // A deadline of its own, and no server's fault.
    return new Promise((resolve, reject) => {
      const fail = (error: unknown): void => {
        stop()
        if (this.state !== 'closed') onFailed('beat', error)
        reject(error)
      }
      const stop = clock.after(storeTimeoutMs, () =>
        fail(gone(`beat took longer than ${storeTimeoutMs} ms`)),
      )
      beat(session).then(
        (told) => {
          stop()
          resolve(told)
        },
        (error: unknown) => fail(failure('beat', error)),
      )
    })
  }

  #makeLane(server: string): Lane {
    const { session } = this
    const { shards } = session
    const { beat, recover, onFailed, onBreaker } = this.#options
    const common = {
      ...this.#options,
      isRefusal: (error: unknown) => session.isRefusal(error),
      isReply: (error: unknown) => session.isReply(error),
      isReady: () => session.ready,
      onFailed,
    }
    if (shards === undefined) {
      let isRenewed = false
      return new Lane({
        ...common,
        received: () => session.received(),
        reconnect: () => {
          isRenewed = true
          session.reconnect('commands')
        },
        ask: () => beat(session),
        recover: () => recover(),
        onDown: (error) => {
          this.#connected(error)
          onBreaker('open', undefined)
        },
        onUp: () => {
          onBreaker('closed', undefined)
          // What one connection died of has ended the other as well, and that one is not told.
          if (isRenewed) session.reconnect('bus')
          isRenewed = false
        },
      })
    }
    const isKeeper = (site: Site): boolean => shards.serverOf(site) === server
    // As it was lost: others ask who is there, too, and what they are told is no news to us then.
    let before: number | undefined
    let isAnother = true
    return new Lane({
      ...common,
      received: () => shards.received(server),
      reconnect: () => shards.reconnect(server),
      ask: async (site) => {
        if (!this.#knowsTime) await this.#learnTime()
        if (isKeeper(site)) await shards.ping(site)
        const now = await shards.identify(server)
        isAnother = now === undefined || now !== before
        if (isKeeper(site)) return
        // Others have what it had.
        this.lanes.forget(server)
        onBreaker('closed', nameOf(server))
      },
      recover: () => recover({ keeps: isKeeper, isAnother }),
      onDown: () => {
        before = shards.lastKnown(server)
        onBreaker('open', nameOf(server))
      },
      onUp: () => {
        onBreaker('closed', nameOf(server))
        // The news of what was missed, and the proof that this process still hears.
        this.beat().catch(() => {})
      },
    })
  }

  #met(server: string, lane: Lane): void {
    if (this.state === 'closed') lane.close()
    else if (!this.session.ready || !this.#knowsTime) lane.lose(gone('it is not connected'))
    else if (server !== '') this.#options.onNewServer()
  }
}

/** Where the client knows no masters, it is the whole cluster. */
function nameOf(server: string): string | undefined {
  return server === '' ? undefined : server
}
