/**
 * What this process may believe of its own memory: does it still hear what others tell, and what
 * is the store's time? It proves its own ears: every 2 s it sends a beat to itself, and what was
 * heard back proves that everything sent before it has arrived too.
 *
 * Invariant: an entry is believed only if it was filled after the last gap, and contact is not
 * older than 5 s. `trust` counts the gaps; an entry carries the count of when its read or load began.
 */
import type { Beat, Clock, EpochNews, EpochsRequest, StoreSession } from '../ports.ts'

const beatMs = 2_000
const deafAfterMs = 5_000
const silentBeats = 3

export interface HearingOptions {
  readonly clock: Clock
  onChange(state: 'up' | 'silent'): void
  /** Beats are answered and never heard: the subscription is to be made anew. */
  onSilence(): void
  /** Another server answers: what it never heard of must be repeated. */
  onServerChange(): void
  /** What a beat asks about tags; `undefined`: nothing, since whoever keeps them is gone. */
  asks(): EpochsRequest | undefined
  /** What it was answered; `subscription`: in which all that came since has been heard. */
  onNews(news: EpochNews, asked: EpochsRequest, subscription: number | undefined): void
}

export class Hearing {
  /** Changes at every gap: what was filled before is to be looked up again. */
  trust = 0
  /** Changes at every recovery of the store: what was kept meanwhile is to be looked up again. */
  outage = 0
  /** From this instant on nothing in memory is believed as it stands. */
  deafAt: number
  /** The store's time minus ours. */
  offsetMs = 0
  /** Counts the times that the bus came or went. */
  subscription = 0
  subscribed = false

  readonly #options: HearingOptions
  readonly #sentAt = new Map<number, number>()
  #beats = 0
  #gap = true
  #unheard = 0
  #server: string | undefined
  #stop: (() => void) | undefined

  constructor(options: HearingOptions, alone: boolean) {
    this.#options = options
    this.deafAt = alone ? Infinity : -Infinity
  }

  /** Begins to beat; `send` is called every 2 s, and may find the store gone. */
  start(send: () => Promise<unknown>): void {
    const { clock, onSilence } = this.#options
    this.#stop = clock.after(beatMs, () => {
      this.start(send)
      if (!this.#gap && this.isDeaf(clock.now())) this.#lose()
      send().then(
        () => {
          // Beats are taken, and none comes back: that subscription is dead without knowing it.
          if (++this.#unheard < silentBeats) return
          this.#unheard = 0
          onSilence()
        },
        () => {},
      )
    })
  }

  stop(): void {
    this.#stop?.()
  }

  /** Subscribed, and proved within the last 5 s. */
  hears(now: number): boolean {
    return !this.#gap && now < this.deafAt
  }

  isDeaf(now: number): boolean {
    return now >= this.deafAt
  }

  /** One beat: its reply brings the store's time, its echo proves the ears. */
  readonly beat = async (session: StoreSession): Promise<Beat> => {
    const { clock } = this.#options
    const n = ++this.#beats
    const sentAt = clock.now()
    if (this.subscribed) this.#sentAt.set(n, sentAt)
    if (this.#sentAt.size > 16) this.#sentAt.delete(this.#sentAt.keys().next().value!)
    const asked = this.#options.asks()
    const { subscribed, subscription } = this
    const beat = await session.beat(n, asked)
    const now = clock.now()
    // Of one that a frozen server held up nobody knows when the time was told.
    const tellsTime = this.#server === undefined || now - sentAt < beatMs
    if (tellsTime) this.offsetMs = beat.time - (sentAt + now) / 2
    if (asked !== undefined && beat.news !== undefined) {
      this.#options.onNews(beat.news, asked, subscribed ? subscription : undefined)
    }
    if (this.#server !== undefined && this.#server !== beat.server) this.#options.onServerChange()
    this.#server = beat.server
    if (!session.hasBus) {
      // Nothing is pushed: memory is believed for as long as its own short lifetime.
      this.deafAt = Infinity
    }
    return beat
  }

  onBus(state: 'up' | 'down', beatNow: () => Promise<unknown>): void {
    this.subscribed = state === 'up'
    this.subscription++
    this.#sentAt.clear()
    if (state === 'up') beatNow().catch(() => {})
    else this.#lose()
  }

  heard(n: number): void {
    const sentAt = this.#sentAt.get(n)
    if (sentAt === undefined) return
    this.#unheard = 0
    for (const earlier of this.#sentAt.keys()) if (earlier <= n) this.#sentAt.delete(earlier)
    if (this.#gap) {
      this.#gap = false
      this.trust++
      this.#options.onChange('up')
    }
    this.deafAt = sentAt + deafAfterMs
  }

  recovered(): void {
    this.outage++
  }

  #lose(): void {
    if (this.#gap) return
    this.#gap = true
    this.#options.onChange('silent')
  }
}
