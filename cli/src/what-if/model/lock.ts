// The usual Redis lock: SET NX PX by the first who misses. What the losers do makes the two recipes:
// `poll`: they look again until the value is there or the lock is free. `retry`: they take the stale
// copy that is kept under a second key, else wait once, look again, and then load themselves.
// A lock that ends before its load does lets a second one in.

import type { Cached, Ended, Key, Machine } from './machine.ts'
import type { World } from './world.ts'
import { answerPollers } from './pollers.ts'
import { Shelf } from './shelf.ts'

export class Lock implements Machine {
  readonly #world: World
  readonly #key: Key
  readonly #shelf: Shelf
  readonly #losers: 'poll' | 'retry'
  #copy: (Cached & { readonly until: number }) | undefined
  /** The current lock; another number: it was given back, or its life is over. */
  #lock = 0
  #isLocked = false
  #waitingSince: number | undefined
  #staleSince: number | undefined
  /** Changes that end what was awaited before. */
  #changes = 0

  constructor(world: World, key: Key, losers: 'poll' | 'retry') {
    this.#world = world
    this.#key = key
    this.#losers = losers
    this.#shelf = new Shelf(world, key)
  }

  begin(cached: Cached | undefined): void {
    if (cached !== undefined) this.#keepCopy(cached)
    if (cached === undefined || cached.freshUntil <= 0) this.#awaitMiss()
    else this.#put(cached)
  }

  write(): void {
    this.#settleStale()
    this.#copy = undefined
    this.#shelf.write()
    if (this.#isLocked) this.#awaitLosers()
    else this.#awaitMiss()
  }

  settle(now: number): void {
    this.#shelf.settle(now)
    this.#settleStale()
  }

  #awaitMiss(): void {
    const change = ++this.#changes
    const { random, rules, now } = this.#world
    // Those who wait look again all the time, and one of them may be first.
    const waiting =
      this.#waitingSince === undefined ? 0 : this.#key.rate * (now - this.#waitingSince)
    const rate = this.#key.rate + waiting / rules.lock.pollMs
    this.#world.after(random.exponential(1 / rate), () => {
      if (change === this.#changes) this.#take()
    })
  }

  #take(): void {
    const { now, rules, scenario } = this.#world
    const lock = ++this.#lock
    const isOwn = this.#waitingSince === undefined
    this.#isLocked = true
    if (this.#losers === 'poll') this.#waitingSince ??= now
    this.#world.after(rules.lock.lifeMs, () => this.#unlock(lock))
    this.#world.load({
      key: this.#key,
      count: 1,
      cameAt: this.#waitingSince ?? now,
      afterMs: scenario.roundTripMs * (this.#losers === 'poll' ? 3 : 2),
      onEnd: (ended) => {
        this.#loaded(ended, isOwn ? now : undefined)
        if (ended.how !== 'died') this.#unlock(lock)
      },
    })
    this.#awaitLosers()
  }

  #unlock(lock: number): void {
    if (lock !== this.#lock || !this.#isLocked) return
    this.#settleStale()
    this.#staleSince = undefined
    this.#isLocked = false
    if (this.#shelf.cached === undefined) this.#awaitMiss()
  }

  /** Requests while somebody else has the lock. */
  #awaitLosers(): void {
    const change = ++this.#changes
    if (this.#losers === 'poll') return
    const { now } = this.#world
    const copy = this.#copy
    if (copy !== undefined && copy.until > now) {
      this.#staleSince = now
      this.#world.agenda.at(copy.until, () => {
        if (change !== this.#changes) return
        this.#settleStale()
        this.#copy = undefined
        this.#awaitLosers()
      })
      return
    }
    this.#staleSince = undefined
    const goesOn = (): boolean => change === this.#changes
    this.#world.eachMiss(this.#key, goesOn, (count) => this.#retryLater(count))
  }

  #retryLater(count: number): void {
    const { now: cameAt, rules, scenario } = this.#world
    const trip = scenario.roundTripMs
    this.#world.after(rules.lock.retryMs + 4 * trip, () => {
      const { now, tally } = this.#world
      const cached = this.#shelf.cached
      if (cached !== undefined) {
        const latency = { from: now - cameAt, to: now - cameAt }
        const age = { from: now - cached.askedAt, to: now - cached.askedAt }
        return tally.answer({ kind: 'waited', count, latency, age })
      }
      this.#world.load({
        key: this.#key,
        count,
        cameAt,
        afterMs: 0,
        onEnd: (ended) => this.#loaded(ended, cameAt),
      })
    })
  }

  #loaded({ how, count, askedAt }: Ended, cameAt: number | undefined): void {
    const { now, rules, scenario, tally } = this.#world
    const isValue = how === 'value'
    if (cameAt !== undefined) {
      const latency = now - cameAt + scenario.roundTripMs
      tally.answer({
        kind: isValue ? 'loaded' : 'failed',
        count,
        latency: { from: latency, to: latency },
        age: isValue ? { from: now - askedAt, to: now - askedAt } : undefined,
      })
    }
    if (!isValue) return
    if (this.#waitingSince !== undefined) {
      const isOutdated = this.#shelf.isOutdated({ askedAt })
      answerPollers(this.#world, this.#key, { since: this.#waitingSince, askedAt, isOutdated })
    }
    this.#waitingSince = undefined
    const cached = { askedAt, freshUntil: now + rules.ttlMs, tookMs: now - askedAt }
    this.#settleStale()
    this.#keepCopy(cached)
    this.#put(cached)
  }

  #put(cached: Cached): void {
    this.#settleStale()
    this.#staleSince = undefined
    this.#changes++
    this.#shelf.put(cached, () => {
      if (this.#isLocked) this.#awaitLosers()
      else this.#awaitMiss()
    })
  }

  #keepCopy(cached: Cached): void {
    const { rules } = this.#world
    if (this.#losers === 'poll') return
    this.#copy = { ...cached, until: cached.freshUntil + (rules.lock.staleTtls - 1) * rules.ttlMs }
  }

  #settleStale(): void {
    const { now, scenario, tally } = this.#world
    const copy = this.#copy
    if (this.#staleSince === undefined || copy === undefined) return
    const trip = scenario.roundTripMs * 3
    const since = this.#staleSince
    this.#staleSince = now
    tally.answer({
      kind: 'stale',
      count: this.#world.arrivals(this.#key, since, now),
      latency: { from: trip, to: trip },
      age: { from: since - copy.askedAt, to: now - copy.askedAt },
      past: { from: Math.max(0, since - copy.freshUntil), to: Math.max(0, now - copy.freshUntil) },
      isOutdated: this.#shelf.isOutdated(copy),
    })
  }
}
