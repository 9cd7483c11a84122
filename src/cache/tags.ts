/**
 * What this process knows of changes by tag. The store counts them in epochs; a frame says as of
 * which epoch it was loaded, and is valid while no label of it has a later one. What is in memory
 * need not ask: `tick` counts the changes that became known here, and an entry carries the tick as
 * of which it was right.
 *
 * All instants here are the store's.
 *
 * Invariant: `highest` is claimed only by who knows every change up to it, so that a load which
 * began as of it cannot have missed one of them.
 */
import type { Head } from '../core/head.ts'
import { EpochCount } from '../core/epoch-count.ts'
import { keyLabel, type Label } from '../core/labels.ts'
import { Settling } from '../core/settling.ts'
import type { Bumped, BusMessage, EpochNews, EpochsRequest, Mark, Token } from '../ports.ts'

/** What is known of one kind of change to one label. */
interface Changed {
  /** Epoch of the last: 0 for none, `undefined` for none later than `#since`. */
  epoch: number | undefined
  /** Epoch of the last that others made. One of our own may hide it: a change has only its last epoch. */
  heard: number
  /** When it became known here; for changes of our own, when they were made. */
  tick: number
  /** Changes of our own that are on their way to the store: its frames are not believed. */
  pending: number
}

interface Known {
  readonly gone: Changed
  readonly expired: Changed
  expiredAt: number
}

/** `undefined`: valid as it stands. `unknown`: its labels must be looked up first. */
export type Verdict = 'gone' | 'unknown' | { readonly expiredAt: number; readonly until: number }

export type Kind = 'gone' | 'expired'

/** About 3 MB. What is dropped is looked up again where it is needed. */
const mostKnown = 10_000

export class Tags {
  readonly #missed: (label: Label) => Kind | undefined
  /** Changes by tag that became known here. */
  tick = 0
  /** Frames as of earlier than this are invalid, whatever their tags. */
  #floor = 0
  /** Changes of later epochs are all in `#known`. */
  #since = Infinity
  /** The last change that was forgotten, since there were too many. */
  #dropped = 0
  /** Entries as of an earlier tick may have missed something. */
  #lostTick = 0
  readonly #known = new Map<Label, Known>()
  readonly #settling = new Settling()
  readonly #count = new EpochCount()
  readonly #sent = new Set<Token>()
  /** The subscription (`Hearing.subscription`) in which all was asked for and has been heard since. */
  followed: number | undefined
  /** A question under way, for all that is read in one turn. */
  asking: Promise<void> | undefined
  /** Labels that are to be looked up at the end of this turn. */
  lookingUp: { readonly labels: Set<Label>; readonly answer: Promise<void> } | undefined

  /** `missed`: whether a change of ours waits to be taken by the store. */
  constructor(missed: (label: Label) => Kind | undefined) {
    this.#missed = missed
  }

  /** All that came since was heard in this subscription, and nothing of it is known to be missing. */
  isCurrent(subscription: number): boolean {
    return this.followed === subscription && this.#count.isWhole
  }

  /** Every change up to this epoch is known. */
  get highest(): number {
    return this.#count.highest
  }

  /** As of which epoch a value is that was given at `at`, when not all was known by then. */
  asOf(knownThen: number, at: number): number {
    // Who knew nothing yet begins where the namespace does.
    const known = knownThen === 0 ? this.#floor : knownThen
    return Math.max(known, Math.min(this.highest, Math.floor(at * 1_000)))
  }

  request(labels: readonly Label[] = [], settling = true): EpochsRequest {
    return { since: this.highest, known: this.highest, settling, labels }
  }

  take(news: EpochNews, asked: EpochsRequest): void {
    const tick = this.tick + 1
    let changed = false
    const isFirst = asked.since === 0
    // Begun anew, or more than fits into one answer: something may lie between that nobody tells.
    const begunAnew = !isFirst && news.floor > this.highest
    const lacking = !isFirst && news.since > asked.since
    this.#floor = Math.max(this.#floor, news.floor)
    if (isFirst) this.#since = Math.max(Math.min(this.#since, news.since), this.#dropped)
    if (lacking) this.#forget(news.since)
    for (const { kind, label, epoch } of news.marks) {
      const known = this.#at(label)
      if (epoch <= known[kind].heard) continue
      // One that was looked up, of before: what is in memory was found right as of later.
      if (epoch > asked.since) changed = true
      this.#note(known, { kind, label, epoch }, epoch > asked.since ? tick : undefined, news.time)
    }
    for (const label of asked.labels) {
      const known = this.#at(label)
      known.gone.epoch ??= 0
      known.expired.epoch ??= 0
    }
    for (const { label, until } of news.settling) this.settle([label], until, news.time)
    this.#count.reach(news.highest)
    if (begunAnew || lacking) this.#lostTick = tick
    if (changed || this.#lostTick === tick) this.tick = tick
    this.#trim()
  }

  /** A change that somebody tells of. */
  hear(message: BusMessage & { type: 'bumped' }, now: number): void {
    const { id, kind, labels, epoch, previous, until } = message
    const isOwn = this.#sent.delete(id)
    if (kind !== 'settle') {
      const tick = this.tick + 1
      for (const label of labels) {
        const known = this.#at(label)
        if (isOwn) this.#own(known[kind], message)
        else if (epoch > known[kind].heard) {
          this.#note(known, { kind, label, epoch }, tick, now)
          this.tick = tick
        }
      }
    }
    if (until > 0) this.settle(labels, until, now)
    this.#count.follow(previous, epoch)
    this.#trim()
  }

  /** A change of our own, applied here when it is called. */
  begin(kind: Kind, labels: readonly Label[], now: number): void {
    this.tick++
    for (const label of labels) {
      const known = this.#touched(label)
      known[kind].pending++
      known[kind].tick = this.tick
      if (kind === 'expired') known.expiredAt = now
    }
  }

  /** Its message, which comes back to us, is no news. */
  sends(id: Token): void {
    this.#sent.add(id)
    if (this.#sent.size > 1_000) this.#sent.delete(this.#sent.values().next().value!)
  }

  /** The store has taken it. */
  confirm(kind: Kind, labels: readonly Label[], bumped: Bumped): void {
    for (const label of labels) this.#own(this.#at(label)[kind], bumped)
    this.#count.confirm(bumped.previous, bumped.epoch)
  }

  /** What `begin` began is confirmed, or waits elsewhere, or there is no store that could take it. */
  end(kind: Kind, labels: readonly Label[]): void {
    for (const label of labels) this.#at(label)[kind].pending--
    this.#trim()
  }

  /** What began to load before `until` is used no longer than that. */
  settle(labels: readonly Label[], until: number, now: number): void {
    this.#settling.add(labels, until, now)
  }

  settlesFor(label: Label, now: number): number {
    return this.#settling.left(label, now)
  }

  /** May a frame be used? `labels`: those of its reader. */
  judge(head: Head, labels: readonly Label[], key: string, now: number): Verdict | undefined {
    const { asOf } = head
    if (asOf < this.#floor) return 'gone'
    if (this.#known.size === 0 && this.#settling.isEmpty && asOf >= this.#since) return undefined
    let unknown = false
    let expiredAt = Infinity
    for (const list of [labels, head.tags]) {
      for (const label of list) {
        const missed = this.#missed(label)
        const known = this.#known.get(label)
        if (missed === 'gone' || (known !== undefined && isAfter(known.gone, asOf))) return 'gone'
        if (missed === 'expired') expiredAt = now
        else if (known !== undefined && isAfter(known.expired, asOf)) {
          // Epochs may be ahead of the clock.
          const { epoch = Infinity } = known.expired
          expiredAt = Math.min(expiredAt, now, known.expired.pending > 0 ? now : epoch / 1_000)
        }
        const isExact = known?.gone.epoch !== undefined && known.expired.epoch !== undefined
        if (!isExact && asOf < this.#since) unknown = true
      }
    }
    if (unknown) return 'unknown'
    const until = this.settles(head.startedAt, labels, head.tags, key)
    if (now >= until) return 'gone'
    return Math.min(expiredAt, until) === Infinity ? undefined : { expiredAt, until }
  }

  /** Was any of them invalidated after this epoch? A change of ours that has none yet is after all. */
  isGoneAfter(asOf: number, labels: readonly Label[]): boolean {
    return labels.some((label) => {
      const known = this.#known.get(label)
      return this.#missed(label) === 'gone' || (known !== undefined && isAfter(known.gone, asOf))
    })
  }

  /** Until when what began to load at `startedAt` may be used, by its labels and its own key. */
  settles(
    startedAt: number,
    labels: readonly Label[],
    tags: readonly Label[],
    key: string,
  ): number {
    if (this.#settling.isEmpty) return Infinity
    return this.#settling.until(startedAt, [...labels, ...tags, keyLabel(key)])
  }

  /** What has changed of these labels since `tick`. */
  changedSince(tick: number, labels: readonly Label[], tags: readonly Label[]): Since {
    if (tick === this.tick) return unchanged
    if (tick < this.#lostTick) return { gone: true, expiredAt: Infinity }
    let expiredAt = Infinity
    for (const list of [labels, tags]) {
      for (const label of list) {
        const known = this.#known.get(label)
        if (known === undefined) continue
        if (known.gone.tick > tick) return { gone: true, expiredAt: Infinity }
        if (known.expired.tick > tick) expiredAt = Math.min(expiredAt, known.expiredAt)
      }
    }
    return expiredAt === Infinity ? unchanged : { gone: false, expiredAt }
  }

  #at(label: Label): Known {
    let known = this.#known.get(label)
    if (known === undefined) {
      const epoch = this.#since === 0 ? 0 : undefined
      known = {
        gone: { epoch, heard: 0, tick: 0, pending: 0 },
        expired: { epoch, heard: 0, tick: 0, pending: 0 },
        expiredAt: Infinity,
      }
      this.#known.set(label, known)
    }
    return known
  }

  /** To the end: the first to be dropped is the one that changed longest ago. */
  #touched(label: Label): Known {
    const known = this.#at(label)
    this.#known.delete(label)
    this.#known.set(label, known)
    return known
  }

  /** One of our own: no news, unless something may lie before it that nobody told yet. */
  #own(change: Changed, { epoch, previous }: Bumped): void {
    change.epoch = Math.max(change.epoch ?? 0, epoch)
    if (previous <= this.highest) change.heard = Math.max(change.heard, epoch)
  }

  /** Without a `tick`: it was applied before. */
  #note(known: Known, { kind, label, epoch }: Mark, tick: number | undefined, now: number): void {
    const change = known[kind]
    change.epoch = Math.max(change.epoch ?? 0, epoch)
    this.#touched(label)
    change.heard = Math.max(change.heard, epoch)
    if (tick === undefined) return
    change.tick = tick
    if (kind === 'expired') known.expiredAt = now
  }

  /**
   * Between what was known and `since` lies what nobody told: of earlier changes none is known to be
   * the last of its label. What was heard of later ones, ahead of this answer, still holds.
   */
  #forget(since: number): void {
    this.#since = Math.max(this.#since, since)
    for (const [label, known] of this.#known) {
      const { gone, expired } = known
      for (const change of [gone, expired]) {
        if (change.epoch === undefined || change.epoch > since) continue
        change.epoch = undefined
        // What is looked up must be taken, although it was heard of once.
        change.heard = 0
      }
      const isKnown = gone.epoch !== undefined || expired.epoch !== undefined
      if (!isKnown && gone.pending + expired.pending === 0) this.#known.delete(label)
    }
  }

  #trim(): void {
    if (this.#known.size <= mostKnown) return
    for (const [label, known] of this.#known) {
      if (this.#known.size <= mostKnown) return
      const { gone, expired } = known
      if (gone.pending + expired.pending > 0) continue
      this.#known.delete(label)
      this.#dropped = Math.max(this.#dropped, gone.epoch ?? 0, expired.epoch ?? 0)
      this.#since = Math.max(this.#since, this.#dropped)
      this.#lostTick = Math.max(this.#lostTick, gone.tick, expired.tick)
    }
  }
}

export interface Since {
  /** Unusable since. */
  readonly gone: boolean
  /** Stale since this instant; `Infinity`: not. */
  readonly expiredAt: number
}

const unchanged: Since = { gone: false, expiredAt: Infinity }

function isAfter({ epoch, pending }: Changed, asOf: number): boolean {
  return pending > 0 || (epoch !== undefined && epoch > asOf)
}
