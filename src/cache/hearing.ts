/**
 * What this process may believe of its own memory: does it still hear what others tell, and what
 * is the store's time? It proves its own ears: every 2 s it sends a beat to itself through every
 * master, and what was heard back proves that everything sent there before it has arrived too.
 *
 * Invariant: an entry is believed only if it was filled after the last gap, and contact with no
 * master is older than 5 s. `trust` counts the gaps; an entry carries the count of when its read or
 * load began.
 */
import type { Beat, Clock, EpochNews, EpochsRequest, StoreSession } from '../ports.ts'
import { Contacts } from './contacts.ts'

const beatMs = 2_000
const deafAfterMs = 5_000
/** Of that many beats it is remembered when they were sent: of more than 5 s. */
const mostBeats = 16

export interface HearingOptions {
  readonly clock: Clock
  onChange(state: 'up' | 'silent'): void
  /** A master takes beats that are never heard: the subscription is to be made anew. */
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
  readonly #contacts = new Contacts()
  #beats = 0
  #gap = true
  #timed = false
  #server: string | undefined
  #stop: (() => void) | undefined

  constructor(options: HearingOptions, alone: boolean) {
    this.#options = options
    this.deafAt = alone ? Infinity : -Infinity
  }

  /** Now, by the store's clock: what processes agree on. */
  get storeNow(): number {
    return this.#options.clock.now() + this.offsetMs
  }

  /** Begins to beat; `send` is called every 2 s, and may find the store gone. */
  start(send: () => Promise<unknown>): void {
    const { clock } = this.#options
    this.#stop = clock.after(beatMs, () => {
      this.start(send)
      if (!this.#gap && this.isDeaf(clock.now())) this.#lose()
      send().catch(() => {})
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

  /** One beat: its reply brings the store's time, its echoes prove the ears. */
  readonly beat = async (session: StoreSession): Promise<Beat> => {
    const { clock } = this.#options
    const n = ++this.#beats
    const sentAt = clock.now()
    if (this.subscribed) this.#sentAt.set(n, sentAt)
    if (this.#sentAt.size > mostBeats) this.#sentAt.delete(this.#sentAt.keys().next().value!)
    const asked = this.#options.asks()
    const subscription = this.subscribed ? this.subscription : undefined
    const beat = await session.beat(n, asked)
    const toldAt = clock.now()
    if (!this.#timed) this.#tellTime(beat.time, sentAt, toldAt)
    void beat.news.then((news) => {
      if (news === undefined || asked === undefined) {
        this.#tellTime(beat.time, sentAt, toldAt)
        return
      }
      // The clock that epochs are ahead of, rather than another master's.
      this.#tellTime(news.time, sentAt, clock.now())
      this.#options.onNews(news, asked, subscription)
    })
    if (this.#server !== undefined && this.#server !== beat.server) this.#options.onServerChange()
    this.#server = beat.server
    if (!session.hasBus) {
      // Nothing is pushed: memory is believed for as long as its own short lifetime.
      this.deafAt = Infinity
      return beat
    }
    this.#contacts.know(
      beat.sent.map(({ through }) => through),
      n,
    )
    this.#prove()
    for (const { through, taken } of beat.sent) {
      void taken.then((took) => {
        const isDeaf = this.#gap
        const found = took && this.#contacts.took(n, through, sentAt, isDeaf)
        if (found === 'silent') this.#options.onSilence()
      })
    }
    return beat
  }

  /** What the store's clock showed between these two instants of ours. */
  #tellTime(time: number, sentAt: number, toldAt: number): void {
    // Of what a frozen server held up nobody knows when it was said.
    if (this.#timed && toldAt - sentAt >= beatMs) return
    this.#timed = true
    this.offsetMs = time - (sentAt + toldAt) / 2
  }

  onBus(state: 'up' | 'down', beatNow: () => Promise<unknown>): void {
    this.subscribed = state === 'up'
    this.subscription++
    this.#sentAt.clear()
    this.#contacts.forget()
    if (state === 'up') beatNow().catch(() => {})
    else this.#lose()
  }

  heard(n: number, through: string): void {
    const sentAt = this.#sentAt.get(n)
    if (sentAt === undefined) return
    if (this.#contacts.heard(n, through, sentAt) === 'missed') this.#lose()
    this.#prove()
  }

  /** Ends a gap as soon as every master was heard again. */
  #prove(): void {
    const { oldest } = this.#contacts
    if (oldest === -Infinity) return
    const deafAt = oldest + deafAfterMs
    if (!this.#gap) {
      this.deafAt = deafAt
      return
    }
    if (this.#options.clock.now() >= deafAt) return
    this.#gap = false
    this.trust++
    this.deafAt = deafAt
    this.#options.onChange('up')
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
