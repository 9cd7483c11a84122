/** What one call wants beside the value: its own patience and its own idea of old. */
import { BreakwaterError } from '../core/errors.ts'
import { onAbort } from '../flight/on-abort.ts'
import type { Seat } from './batch.ts'
import type { Engine } from './engine.ts'
import type { ResolvedCall } from './options.ts'

export interface Wanted {
  readonly call: ResolvedCall | undefined
  /** Oldest acceptable start of a load. */
  readonly since: number
  readonly giveUpAt: number | undefined
  readonly askedAt: number
  /** `Tags.tick` at the call: what changed by then must not be missing. */
  readonly tick: number
  /** Where it is one of many: its place in their common load. */
  readonly seat: Seat | undefined
  /** Only a load of after the call will do, and no older value stands in for it. */
  readonly forced: boolean
  /** It waits for the background already, and only looks. */
  readonly polls: boolean
}

export function wantedBy(engine: Engine, call: ResolvedCall | undefined, seat?: Seat): Wanted {
  const now = engine.clock.now()
  return {
    call,
    askedAt: now,
    since: call?.maxAgeMs === undefined ? -Infinity : now - call.maxAgeMs,
    giveUpAt: call?.timeoutMs === undefined ? undefined : now + call.timeoutMs,
    tick: engine.tags.tick,
    seat,
    forced: false,
    polls: false,
  }
}

export function leftOf({ giveUpAt }: Wanted, now: number): number | undefined {
  return giveUpAt === undefined ? undefined : Math.max(0, giveUpAt - now)
}

export function gaveUp(key: string, { call }: Wanted): BreakwaterError {
  const text = `${key}: no value within ${call?.timeoutMs} ms`
  return new BreakwaterError('WAIT_TIMEOUT', text, { key })
}

/** Under this call's own signal and timeout, for what other callers share. */
export function bounded<T>(
  engine: Engine,
  key: string,
  work: Promise<T>,
  wanted: Wanted,
): Promise<T> {
  const signal = wanted.call?.signal
  const timeoutMs = leftOf(wanted, engine.clock.now())
  if (signal === undefined && timeoutMs === undefined) return work
  return new Promise<T>((resolve, reject) => {
    const ends: (() => void)[] = []
    if (signal !== undefined) ends.push(onAbort(signal, () => reject(signal.reason)))
    if (timeoutMs !== undefined) {
      ends.push(engine.clock.after(timeoutMs, () => reject(gaveUp(key, wanted))))
    }
    const end = (): void => {
      for (const stop of ends) stop()
    }
    work.then(resolve, reject).finally(end)
  })
}
