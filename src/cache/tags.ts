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

interface Known {
  /** Epoch of the last change: 0 for none, `undefined` for none later than `#since`. */
  gone: number | undefined
  expired: number | undefined
  goneTick: number
  expiredTick: number
  expiredAt: number
  /** Changes of our own that are on their way to the store: its frames are not believed. */
  pendingGone: number
  pendingExpired: number
}

/** `undefined`: valid as it stands. `unknown`: its labels must be looked up first. */
export type Verdict = 'gone' | 'unknown' | { readonly expiredAt: number; readonly until: number }

export type Kind = 'gone' | 'expired'

/** About 3 MB. What is dropped is looked up again where it is needed. */
const mostKnown = 20_000

export class Tags {
  readonly #missed: (label: Label) => Kind | undefined
  /** Changes by tag that became known here. */
  tick = 0
  /** Frames as of earlier than this are invalid, whatever their tags. */
  #floor = 0
  /** Changes of later epochs are all in `#known`. */
  #since = Infinity
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

  request(labels: readonly Label[] = [], settling = true): EpochsRequest {
    return { since: this.highest, known: this.highest, settling, labels }
  }

  take(news: EpochNews, asked: EpochsRequest): void {
    const tick = this.tick + 1
    let changed = false
    const isFirst = asked.since === 0
    // Begun anew, or more than fits into one answer: something may lie between that nobody tells.
    const begunAnew = !isFirst && news.floor > this.highest
    const lacking = news.since > asked.since
    this.#floor = Math.max(this.#floor, news.floor)
    if (isFirst) this.#since = Math.min(this.#since, news.since)
    else if (lacking) this.#since = Math.max(this.#since, news.since)
    for (const { kind, label, epoch } of news.marks) {
      // One that was looked up, of before: what is in memory was found right as of later.
      const at = epoch > asked.since ? tick : undefined
      if (this.#note({ kind, label, epoch, tick: at, now: news.time }) && at) changed = true
    }
    for (const label of asked.labels) {
      const known = this.#at(label)
      known.gone ??= 0
      known.expired ??= 0
    }
    for (const { label, until } of news.settling) this.settle([label], until, news.time)
    this.#count.reach(news.highest)
    if (begunAnew || (lacking && !isFirst)) this.#lostTick = tick
    if (changed || this.#lostTick === tick) this.tick = tick
    this.#trim()
  }

  /** A change that somebody tells of. */
  hear(message: BusMessage & { type: 'bumped' }, now: number): void {
    const { id, kind, labels, epoch, previous, until } = message
    const isOwn = this.#sent.delete(id)
    if (kind !== 'settle') {
      const tick = this.tick + 1
      let changed = false
      for (const label of labels) {
        const at = isOwn ? undefined : tick
        if (this.#note({ kind, label, epoch, tick: at, now })) changed = true
      }
      if (changed && !isOwn) this.tick = tick
    }
    if (until > 0) this.settle(labels, until, now)
    this.#count.follow(previous, epoch)
    this.#trim()
  }

  /** A change of our own, applied here when it is called. */
  begin(kind: Kind, labels: readonly Label[], now: number): void {
    this.tick++
    for (const label of labels) {
      const known = this.#at(label)
      if (kind === 'gone') {
        known.pendingGone++
        known.goneTick = this.tick
      } else {
        known.pendingExpired++
        known.expiredTick = this.tick
        known.expiredAt = now
      }
    }
  }

  /** Its message, which comes back to us, is no news. */
  sends(id: Token): void {
    this.#sent.add(id)
    if (this.#sent.size > 1_000) this.#sent.delete(this.#sent.values().next().value!)
  }

  /** The store has taken it. */
  confirm(kind: Kind, labels: readonly Label[], bumped: Bumped): void {
    for (const label of labels) {
      const known = this.#at(label)
      known[kind] = Math.max(known[kind] ?? 0, bumped.epoch)
    }
    this.#count.confirm(bumped.previous, bumped.epoch)
  }

  /** What `begin` began is confirmed, or waits elsewhere, or there is no store that could take it. */
  end(kind: Kind, labels: readonly Label[]): void {
    const pending = kind === 'gone' ? 'pendingGone' : 'pendingExpired'
    for (const label of labels) this.#at(label)[pending]--
  }

  /** What began to load before `until` is used no longer than that. */
  settle(labels: readonly Label[], until: number, now: number): void {
    this.#settling.add(labels, until, now)
  }

  /** May a frame be used? `labels`: those of its reader. */
  judge(head: Head, labels: readonly Label[], key: string, now: number): Verdict | undefined {
    const { asOf } = head
    if (asOf < this.#floor) return 'gone'
    if (this.#known.size === 0 && this.#settling.isEmpty && asOf >= this.#since) return undefined
    let unknown = false
    let expired = 0
    let pendingExpired = false
    for (const list of [labels, head.tags]) {
      for (const label of list) {
        const known = this.#known.get(label)
        const missed = this.#missed(label)
        if (missed === 'gone') return 'gone'
        if (missed === 'expired') pendingExpired = true
        if (known === undefined) {
          if (asOf < this.#since) unknown = true
          continue
        }
        const { gone } = known
        if (known.pendingGone > 0 || (gone !== undefined && gone > asOf)) return 'gone'
        if (known.pendingExpired > 0) pendingExpired = true
        if (known.expired !== undefined && known.expired > asOf) {
          expired = Math.max(expired, known.expired)
        }
        if ((gone === undefined || known.expired === undefined) && asOf < this.#since)
          unknown = true
      }
    }
    if (unknown) return 'unknown'
    const until = this.settles(head.startedAt, labels, head.tags, key)
    if (now >= until) return 'gone'
    if (expired === 0 && !pendingExpired && until === Infinity) return undefined
    const expiredAt = pendingExpired ? now : expired > 0 ? expired / 1_000 : Infinity
    return { expiredAt, until }
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

  /** The last tick later than `tick` at which one of the labels changed; 0: none did. */
  changedSince(
    tick: number,
    labels: readonly Label[],
    tags: readonly Label[],
  ): { readonly gone: number; readonly expired: number; readonly expiredAt: number } {
    if (tick === this.tick) return unchanged
    if (tick < this.#lostTick) return { gone: this.#lostTick, expired: 0, expiredAt: Infinity }
    let gone = 0
    let expired = 0
    let expiredAt = Infinity
    for (const list of [labels, tags]) {
      for (const label of list) {
        const known = this.#known.get(label)
        if (known === undefined) continue
        if (known.goneTick > tick) gone = Math.max(gone, known.goneTick)
        if (known.expiredTick > tick) {
          expired = Math.max(expired, known.expiredTick)
          expiredAt = Math.min(expiredAt, known.expiredAt)
        }
      }
    }
    return { gone, expired, expiredAt }
  }

  #at(label: Label): Known {
    let known = this.#known.get(label)
    if (known === undefined) {
      known = {
        gone: this.#since === 0 ? 0 : undefined,
        expired: this.#since === 0 ? 0 : undefined,
        goneTick: 0,
        expiredTick: 0,
        expiredAt: Infinity,
        pendingGone: 0,
        pendingExpired: 0,
      }
      this.#known.set(label, known)
    }
    return known
  }

  /** True: it was news. Without a `tick` it was applied before. */
  #note(noted: Mark & { readonly tick: number | undefined; readonly now: number }): boolean {
    const { kind, label, epoch, tick, now } = noted
    const known = this.#at(label)
    const before = known[kind]
    if (before !== undefined && before >= epoch) return false
    known[kind] = epoch
    // To the end: the first to be dropped is the one that changed longest ago.
    this.#known.delete(label)
    this.#known.set(label, known)
    if (tick === undefined) return true
    if (kind === 'gone') known.goneTick = tick
    else {
      known.expiredTick = tick
      known.expiredAt = now
    }
    return true
  }

  #trim(): void {
    if (this.#known.size <= mostKnown) return
    for (const [label, known] of this.#known) {
      if (this.#known.size <= mostKnown) return
      if (known.pendingGone + known.pendingExpired > 0) continue
      this.#known.delete(label)
      this.#since = Math.max(this.#since, known.gone ?? 0, known.expired ?? 0)
      this.#lostTick = Math.max(this.#lostTick, known.goneTick, known.expiredTick)
    }
  }
}

const unchanged = { gone: 0, expired: 0, expiredAt: Infinity }
