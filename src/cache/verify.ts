/**
 * Looks again at a sample of what was served: the loader is run once more, aside, and what it gives is
 * held against the served value. A difference may be on its way already (the writer has changed the
 * source and invalidates in a moment), so it counts only if nothing was heard of it a while later.
 *
 * Then it is told how long ago the entry was changed for the last time. That is small where an
 * invalidation was undone: by a source that reads from replicas which lag, or by a fault of ours.
 */
import { isDeepStrictEqual } from 'node:util'
import { Flight } from '../flight/flight.ts'
import type { Label } from '../core/labels.ts'
import { around, type Answer, type Engine, type Source, type Target, type Work } from './engine.ts'
import type { Entry } from './entry.ts'
import { callbackFailed } from './failure.ts'
import { fly } from './fetch.ts'
import { forbidsLoad, modeOf } from './modes.ts'
import { given } from './values.ts'
import type { VerifyRules } from './verify-rules.ts'

/** A writer who has changed the source has invalidated by then. */
const graceMs = 1_000
/** What is heard of more keys or tags than these forgets the oldest. */
const mostRemembered = 10_000

/** When keys and tags were changed, for those that are verified: on this process's clock. */
export class Changes {
  readonly #at = new Map<string, number>()

  note(labels: readonly string[], now: number): void {
    for (const label of labels) {
      this.#at.delete(label)
      this.#at.set(label, now)
      if (this.#at.size > mostRemembered) this.#at.delete(this.#at.keys().next().value!)
    }
  }

  last(key: string, labels: readonly Label[], more: readonly Label[]): number {
    let last = this.#at.get(key) ?? -Infinity
    for (const label of labels) last = Math.max(last, this.#at.get(label) ?? -Infinity)
    for (const label of more) last = Math.max(last, this.#at.get(label) ?? -Infinity)
    return last
  }
}

/** One definition's. `left`: so many hits until the next of the sample. */
export class Sampler {
  left: number
  readonly #engine: Engine
  readonly #rules: VerifyRules
  #nextAt = -Infinity
  #isBusy = false

  constructor(engine: Engine, rules: VerifyRules) {
    this.#engine = engine
    this.#rules = rules
    engine.verified ??= new Changes()
    this.left = this.#gap()
  }

  /** Its turn has come. Never throws, and nobody waits for it. */
  take(target: Target, entry: Entry): void {
    this.left = this.#gap()
    const { clock, limiter, store } = this.#engine
    const now = clock.now()
    // The source is not to feel it, least of all when it has enough to do.
    if (this.#isBusy || now < this.#nextAt || limiter.queued > 0 || this.#engine.state !== 'open') {
      return
    }
    if (store?.isDown(target.key) === true || entry.provisional !== undefined) return
    if (forbidsLoad(modeOf(this.#engine, target.source), true)) return
    this.#isBusy = true
    this.#nextAt = now + 1_000 / this.#rules.perSecond
    const { background, detached } = this.#engine
    const looking = detached(() => background.track(this.#look(target, entry, now)))
    void looking.finally(() => (this.#isBusy = false))
  }

  /** Hits between two of the sample: as if a die was thrown for each. */
  #gap(): number {
    const { sample } = this.#rules
    if (sample >= 1) return 1
    return Math.ceil(Math.log(1 - this.#engine.clock.random()) / Math.log(1 - sample)) || 1
  }

  async #look(target: Target, served: Entry, servedAt: number): Promise<void> {
    const { key, source } = target
    const loaded = await loadAside(this.#engine, target).catch(() => undefined)
    if (loaded === undefined || loaded.entry.uncacheable !== undefined) {
      return this.#tell(target, 'failed', servedAt, servedAt)
    }
    const { startedAt } = served
    if (this.#isSame(target, served, loaded.entry)) {
      return this.#tell(target, 'same', startedAt, servedAt)
    }
    const { clock } = this.#engine
    await new Promise<void>((resolve) => void clock.after(graceMs, resolve))
    if (this.#engine.state !== 'open') return
    const changedAt = this.#engine.verified!.last(key, source.labels, served.tags)
    const now = clock.now()
    const held = this.#engine.memory?.get(key)
    const isReplaced = held !== undefined && held.stamp !== served.stamp
    if (changedAt >= servedAt || isReplaced) return this.#tell(target, 'overtaken', startedAt, now)
    this.#tell(target, 'different', Math.max(changedAt, startedAt), now)
  }

  #isSame(target: Target, served: Entry, loaded: Entry): boolean {
    const { rules, name } = target.source
    const one = given(served, rules)
    const other = given(loaded, rules)
    const { equal = isDeepStrictEqual } = this.#rules
    try {
      return equal(one, other)
    } catch (error) {
      callbackFailed(this.#engine, { name, key: target.key }, 'verify.equal', error)
      return true
    }
  }

  #tell({ key, source }: Target, result: keyof typeof counted, from: number, now: number): void {
    const { counters, name } = source
    counters[counted[result]]++
    this.#engine.listeners.tell('verified', () => ({ name, key, result, ms: now - from }))
  }
}

const counted = {
  same: 'verifiedSame',
  overtaken: 'verifiedOvertaken',
  different: 'verifiedDifferent',
  failed: 'verifiedFailed',
} as const

export function samplerOf(engine: Engine, { rules }: Source): Sampler | undefined {
  return rules.verify === undefined || !engine.remembers
    ? undefined
    : new Sampler(engine, rules.verify)
}

/** For hits whose rules come with each call: one sampler for those that have the same. */
export function sampling(engine: Engine): (target: Target, entry: Entry) => void {
  const samplers = new WeakMap<VerifyRules, Sampler>()
  return (target, entry) => {
    const { verify } = target.source.rules
    if (verify === undefined || target.source.isAround || !engine.remembers) return
    let sampler = samplers.get(verify)
    if (sampler === undefined) samplers.set(verify, (sampler = new Sampler(engine, verify)))
    if (--sampler.left <= 0) sampler.take(target, entry)
  }
}

/** Through the limiter, as work in the background; kept nowhere, and nobody joins it. */
async function loadAside(engine: Engine, target: Target): Promise<Answer> {
  const aside = { ...target, source: around(target.source) }
  const nothing = { known: undefined, seen: undefined, seat: undefined, since: -Infinity }
  const work: Work = { target: aside, reason: 'verify', mode: 'alone', ...nothing }
  const { key } = target
  const now = engine.clock.now()
  const flight = new Flight<Answer, Work>(engine, { key, purpose: 'background', work, now })
  engine.flights.addAlone(flight)
  void fly(engine, work, flight)
  return flight.result
}
