/**
 * The store as the engine may use it: every operation under a deadline of our own and behind the
 * breaker of its lane, since no client's defaults are safe (with a frozen server they wait for longer
 * than 9 s). While a breaker is open nothing waits for what is behind it.
 *
 * Invariant: an operation settles within `storeTimeout` (before the client was ready for the first
 * time: `connectTimeout`, once), and what comes later than that is handed to whoever cleans up.
 */
import type { Site, StoreSession } from '../ports.ts'
import { gone } from './lane.ts'
import { StoreLink, type LinkOptions } from './store-link.ts'

export class StoreAccess {
  readonly session: StoreSession
  readonly #link: StoreLink
  readonly #onFailed: LinkOptions['onFailed']

  constructor(options: LinkOptions) {
    this.#onFailed = options.onFailed
    this.#link = new StoreLink(options)
    this.session = this.#link.session
  }

  /** Whether what is kept there can be asked for now. */
  isUp(site: Site): boolean {
    return this.#link.state === 'open' && this.#link.lanes.at(site).isUp
  }

  /** Answers at once, and then `STORE_UNAVAILABLE` can be had without asking. */
  isDown(site: Site): boolean {
    return this.#link.state !== 'connecting' && !this.isUp(site)
  }

  /** How much of the store answers. */
  get up(): 'all' | 'some' | 'none' {
    return this.#link.up
  }

  /** Servers that cannot be asked now. */
  get down(): number {
    return this.#link.lanes.down
  }

  /** In parts that one server keeps: each is asked for by itself, and waits for nobody else. */
  parts<T>(items: readonly T[], siteOf: (item: T) => Site): readonly (readonly T[])[] {
    return this.#link.lanes.parts(items, siteOf)
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
    if (this.#link.state === 'connecting')
      return this.#link.settled.then(() => this.read(key, take, lost))
    const lane = this.#link.lanes.at(key)
    if (!lane.isUp) return Promise.resolve().then(lost)
    return new Promise<T>((resolve) => {
      const pending = lane.begin('read', () => resolve(lost()))
      const { session } = this
      const answer = lane.isRamping
        ? lane.sent(pending, () => session.read(key))
        : session.read(key)
      answer.then(
        (bytes) => {
          if (lane.end(pending)) resolve(take(bytes))
        },
        (error: unknown) => {
          if (lane.failed('read', pending, error)) resolve(lost())
        },
      )
    })
  }

  /** The same for many that one server keeps: one deadline for all of them, since they are one question. */
  readMany<T>(
    keys: readonly string[],
    take: (bytes: Uint8Array | undefined, n: number) => T | Promise<T>,
    lost: () => T,
  ): Promise<readonly T[]> {
    if (this.#link.state === 'connecting')
      return this.#link.settled.then(() => this.readMany(keys, take, lost))
    const allLost = (): readonly T[] => keys.map(() => lost())
    const lane = this.#link.lanes.at(keys[0])
    if (!lane.isUp) return Promise.resolve().then(allLost)
    return new Promise((resolve) => {
      const pending = lane.begin('read', () => resolve(allLost()))
      const { session } = this
      const answer = lane.isRamping
        ? lane.sent(pending, () => session.readMany(keys))
        : session.readMany(keys)
      answer.then(
        (frames) => {
          const [first] = frames
          // By a server that cannot be reached: no answer at all.
          if (first instanceof Error && frames.every((frame) => frame instanceof Error)) {
            if (lane.failed('read', pending, first)) resolve(allLost())
            return
          }
          if (!lane.end(pending)) return
          let later = false
          const taken = frames.map((bytes, n) => {
            if (bytes instanceof Error) {
              this.#onFailed('read', bytes)
              return lost()
            }
            const one = take(bytes ?? undefined, n)
            later ||= one instanceof Promise
            return one
          })
          resolve(later ? Promise.all(taken) : (taken as T[]))
        },
        (error: unknown) => {
          if (lane.failed('read', pending, error)) resolve(allLost())
        },
      )
    })
  }

  /**
   * Rejects with `STORE_UNAVAILABLE` when the server of that site is gone, in whatever way. `late`
   * gets a result that came after its deadline (a lease nobody wants any more).
   */
  call<T>(
    operation: string,
    site: Site,
    run: (session: StoreSession) => Promise<T>,
    late?: (result: T) => void,
  ): Promise<T> {
    if (this.#link.state === 'connecting') {
      return this.#link.settled.then(() => this.call(operation, site, run, late))
    }
    const lane = this.#link.lanes.at(site)
    if (!lane.isUp) return Promise.reject(gone('it is not answering'))
    return lane.run(operation, () => run(this.session), late)
  }

  /** Under the deadline, although the breaker may be open: what makes up for an outage. */
  evenSo<T>(operation: string, site: Site, run: (session: StoreSession) => Promise<T>): Promise<T> {
    // Nothing is parked on a client that waits for its server.
    if (this.#link.state === 'closed' || !this.session.ready) {
      return Promise.reject(gone('it is not connected'))
    }
    return this.#link.lanes.at(site).run(operation, () => run(this.session))
  }

  beat(): Promise<unknown> {
    return this.#link.beat()
  }

  close(): Promise<void> {
    return this.#link.close()
  }
}
