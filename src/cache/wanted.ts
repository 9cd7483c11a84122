/** What one call wants beside the value: its own patience and its own idea of old. */
import { BreakwaterError } from '../core/errors.ts'
import type { Engine } from './engine.ts'
import type { ResolvedCall } from './options.ts'

export interface Wanted {
  readonly call: ResolvedCall | undefined
  /** Oldest acceptable start of a load. */
  readonly since: number
  readonly giveUpAt: number | undefined
}

export function wantedBy(call: ResolvedCall | undefined, now: number): Wanted {
  return {
    call,
    since: call?.maxAgeMs === undefined ? -Infinity : now - call.maxAgeMs,
    giveUpAt: call?.timeoutMs === undefined ? undefined : now + call.timeoutMs,
  }
}

/** Under this call's own signal and timeout, for what other callers share. */
export function bounded<T>(engine: Engine, work: Promise<T>, wanted: Wanted): Promise<T> {
  const { call, giveUpAt } = wanted
  const signal = call?.signal
  if (signal === undefined && giveUpAt === undefined) return work
  return new Promise<T>((resolve, reject) => {
    const onAbort = (): void => reject(signal!.reason)
    const stop =
      giveUpAt === undefined
        ? undefined
        : engine.clock.after(Math.max(0, giveUpAt - engine.clock.now()), () => {
            reject(new BreakwaterError('WAIT_TIMEOUT', `no value within ${call!.timeoutMs} ms`))
          })
    signal?.addEventListener('abort', onAbort, { once: true })
    const clean = (): void => {
      stop?.()
      signal?.removeEventListener('abort', onAbort)
    }
    work.then(resolve, reject).finally(clean)
  })
}
