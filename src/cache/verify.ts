/**
 * Looks again at a sample of what was served: the loader is run once more, aside, and what it gives is
 * held against the served value. A difference may be on its way already (the writer has changed the
 * source and invalidates in a moment), so it counts only if nothing was heard of it a while later.
 *
 * Then it is told how long ago the entry was changed for the last time. That is small where an
 * invalidation was undone: by a source that reads from replicas which lag, or by a fault of ours.
 */
import { isLeftToAhead } from './ahead.ts'
import { mayAsk, usesMemory, usesStore, type Engine, type Source, type Target } from './engine.ts'
import type { Entry } from './entry.ts'
import { compared } from './compared.ts'
import { isTrusted } from './keep.ts'
import { LastChanges } from './last-changes.ts'
import { closed } from './load.ts'
import { forbidsLoad, modeOf } from './modes.ts'
import { loadAside } from './refresh.ts'
import { isBig } from './values.ts'
import type { VerifyRules } from './verify-rules.ts'

/** A writer who has changed the source has invalidated by then. */
const graceMs = 1_000

/** One definition's, or that of all one-off keys. */
export class Sampler {
  readonly #engine: Engine
  /** Hits take their steps from it; the one that empties it is of the sample. */
  #left: number
  #nextAt = -Infinity
  /** Ends what is under way. */
  #stop: (() => void) | undefined

  constructor(engine: Engine) {
    this.#engine = engine
    engine.verified ??= new LastChanges()
    engine.companions.add({ close: () => this.#stop?.() })
    this.#left = this.#draw()
  }

  /** Is it the turn of this hit? */
  draws({ step }: VerifyRules): boolean {
    return (this.#left -= step) <= 0
  }

  /** Its turn has come. Never throws, and nobody waits for it. */
  take(target: Target, entry: Entry): void {
    this.#left = this.#draw()
    const { clock, limiter, store, state, background, detached } = this.#engine
    const { verify } = target.source.rules
    const now = clock.now()
    if (verify === undefined || this.#stop !== undefined || now < this.#nextAt) return
    // Neither the source nor callers are to feel it.
    if (!limiter.isAtEase || state !== 'open') return
    // To compare what is big would hold up all else.
    if (isBig(entry.size) && verify.equal === undefined) return
    // Made by schedule, it is to be of then; and only the background may be able to.
    if (isLeftToAhead(this.#engine, target.source)) return
    if (store?.isDown(target.key) === true || entry.provisional !== undefined) return
    if (forbidsLoad(modeOf(this.#engine, target.source), true)) return
    this.#nextAt = now + 1_000 / verify.perSecond
    void detached(() => background.track(this.#look({ target, served: entry, servedAt: now })))
  }

  /** As if a die was thrown for each hit: of however many, and whatever the share of each. */
  #draw(): number {
    return -Math.log1p(-this.#engine.clock.random())
  }

  async #look(look: Look): Promise<void> {
    const { target, served, servedAt } = look
    const { clock } = this.#engine
    const flight = loadAside(this.#engine, target, 'verify')
    this.#stop = () => {
      flight.doomed = true
      const error = closed(target.key)
      flight.reject(error)
      flight.controls.stop?.(error)
    }
    const loaded = await flight.result.catch(() => undefined)
    this.#stop = undefined
    if (this.#engine.state !== 'open') return
    const found =
      loaded === undefined ? 'failed' : compared(this.#engine, target, { served, loaded })
    if (found === 'failed') return this.#tell(target, 'failed', 0)
    if (found === 'same') return this.#tell(target, 'same', servedAt - served.startedAt)
    // Nothing that `close` or `idle` would wait for.
    const stop = clock.after(graceMs, () => {
      this.#stop = undefined
      void this.#engine.background.track(this.#judge(look))
    })
    this.#stop = () => {
      this.#stop = undefined
      stop()
    }
  }

  async #judge({ target, served, servedAt }: Look): Promise<void> {
    const { clock, verified } = this.#engine
    const { key, source } = target
    const changedAt = verified!.last(key, source.labels, served.tags)
    const now = clock.now()
    const isOvertaken = changedAt >= servedAt || (await this.#isReplaced(target, served))
    if (isOvertaken) this.#tell(target, 'overtaken', now - servedAt)
    else if (changedAt > -Infinity) this.#tell(target, 'different', now - changedAt)
    else this.#tell(target, 'outdated', now - served.startedAt)
  }

  /** Whoever asks now would be given something else. */
  async #isReplaced({ key, source }: Target, served: Entry): Promise<boolean> {
    const engine = this.#engine
    const held = usesMemory(engine, source.rules) ? engine.memory!.get(key) : undefined
    if (held !== undefined && isTrusted(engine, key, held, engine.clock.now())) {
      return held.stamp !== served.stamp
    }
    if (!usesStore(engine, source.rules)) return false
    if (!mayAsk(engine, source.rules, key)) return true
    const found = await engine.looks.at(engine, source, key, undefined)
    return found.type !== 'entry' || found.entry.stamp !== served.stamp
  }

  #tell({ key, source }: Target, result: keyof typeof counted, ms: number): void {
    const { counters, name } = source
    counters[counted[result]]++
    this.#engine.listeners.tell('verified', () => ({ name, key, result, ms }))
  }
}

interface Look {
  readonly target: Target
  readonly served: Entry
  readonly servedAt: number
}

const counted = {
  same: 'verifiedSame',
  overtaken: 'verifiedOvertaken',
  different: 'verifiedDifferent',
  outdated: 'verifiedOutdated',
  failed: 'verifiedFailed',
} as const

export function samplerOf(engine: Engine, { rules }: Source): Sampler | undefined {
  return rules.verify === undefined || !engine.remembers ? undefined : new Sampler(engine)
}

/** For hits whose rules come with each call. */
export function sampling(engine: Engine): (target: Target, entry: Entry) => void {
  let sampler: Sampler | undefined
  return (target, entry) => {
    const { verify } = target.source.rules
    if (verify === undefined || target.source.isAround || !engine.remembers) return
    sampler ??= new Sampler(engine)
    if (sampler.draws(verify)) sampler.take(target, entry)
  }
}
