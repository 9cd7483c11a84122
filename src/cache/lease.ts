/**
 * A lease that this process holds: renewed at a third of its life while the load runs, and given
 * back by its token alone. Losing it is no error: the load goes on for its own callers, and the
 * fence refuses what it would publish. Nothing here ever rejects.
 */
import type { ReleaseReason, Renewed, Token } from '../ports.ts'
import type { Engine, Target } from './engine.ts'

export class Lease {
  readonly token: Token
  readonly #engine: Engine
  readonly #target: Target
  #stopTimer: (() => void) | undefined
  #over = false
  /** Told after each renewal. */
  onRenewed: ((state: Renewed) => void) | undefined

  constructor(engine: Engine, target: Target, token: Token) {
    this.#engine = engine
    this.#target = target
    this.token = token
    target.source.counters.leases++
    this.#renewLater()
  }

  #renewLater(): void {
    const { leaseMs } = this.#target.source.rules
    this.#stopTimer = this.#engine.clock.after(Math.max(1, Math.floor(leaseMs / 3)), () => {
      void this.renew()
    })
  }

  /** Extends it now, and again in a third of its life. `lost` also when the store does not say. */
  async renew(): Promise<Renewed> {
    if (this.#over) {
      this.onRenewed?.('lost')
      return 'lost'
    }
    this.#stopTimer?.()
    const { key, source } = this.#target
    const request = { key, token: this.token, leaseMs: source.rules.leaseMs }
    let state: Renewed | undefined
    try {
      state = await this.#engine.store!.call('renew', key, (session) => session.renew(request))
    } catch {
      // Unknown: the store was not reached, the lease may well hold. Try again in time.
    }
    if (this.#over) return 'lost'
    if (state === 'lost') {
      source.counters.leasesLost++
      this.#over = true
    } else {
      this.#renewLater()
    }
    if (state !== undefined) this.onRenewed?.(state)
    // Gone: whoever waits elsewhere cannot be given it anyway.
    else if (this.#engine.store!.isDown(key)) this.onRenewed?.('lost')
    return state ?? 'lost'
  }

  /** Nothing is renewed any more: what follows (publish, fail) ends the lease in the store. */
  stop(): void {
    this.#over = true
    this.onRenewed = undefined
    this.#stopTimer?.()
  }

  release(why: ReleaseReason): Promise<void> {
    this.stop()
    return releaseLease(this.#engine, this.#target.key, this.token, why)
  }
}

export function releaseLease(
  engine: Engine,
  key: string,
  token: Token,
  why: ReleaseReason,
): Promise<void> {
  // Although the breaker may be open: a lease that was granted late came over a living connection.
  const given = engine.store!.evenSo('release', key, (session) =>
    session.release({ key, token, why }),
  )
  // Lost on the way: the lease ends by itself.
  return engine.background.track(given.catch(() => {}))
}
