/**
 * The lease of an entry as the memory store keeps it: the same record and the same rules as in
 * `redis/lua/acquire.lua`. The failure of an earlier load stays in it while those who waited for
 * that load may still collect it, whoever loads by then.
 */
import type { Acquired, AcquireRequest, Token } from '../ports.ts'

export interface Lease {
  readonly holder: Token | undefined
  /** Somebody waits until this instant. */
  readonly awaitedUntil: number
  readonly failure: Failure | undefined
}

export interface Failure {
  readonly token: Token
  readonly error: string
  readonly collectUntil: number
  readonly backoffUntil: number
}

/** A waiter counts as waiting until a little after the lease would end, when it asks again. */
const graceMs = 250

/** Does a back-off stand in the way? */
function heeds(mode: AcquireRequest['mode']): boolean {
  return mode === 'take' || mode === 'wait'
}

export interface Contended {
  readonly answer: Exclude<Acquired, { type: 'value' | 'nolease' }>
  /** What the lease becomes, and whether its life starts anew. `undefined`: it stays as it is. */
  readonly next: { readonly lease: Lease; readonly restart: boolean } | undefined
}

export function contend(
  request: AcquireRequest,
  lease: Lease | undefined,
  { leaseUntil, now }: { leaseUntil: number; now: number },
): Contended {
  const { token, waitedFor, mode, announces } = request
  const { holder, awaitedUntil = 0, failure } = lease ?? {}

  if (failure !== undefined && failure.token === waitedFor && failure.collectUntil > now) {
    const backoffMs = Math.max(0, Math.ceil(failure.backoffUntil - now))
    return { answer: { type: 'failed', error: failure.error, backoffMs }, next: undefined }
  }
  if (holder === undefined) {
    if (failure !== undefined && failure.backoffUntil > now && heeds(mode)) {
      const ms = Math.ceil(failure.backoffUntil - now)
      return { answer: { type: 'backoff', error: failure.error, ms }, next: undefined }
    }
  } else if (holder !== token && mode !== 'force') {
    const answer = { type: 'wait', ms: Math.ceil(leaseUntil - now), token: holder } as const
    if (mode === 'take' || leaseUntil + graceMs <= awaitedUntil) return { answer, next: undefined }
    const noted = { holder, awaitedUntil: leaseUntil + graceMs, failure }
    return { answer, next: { lease: noted, restart: false } }
  }
  const kept = failure !== undefined && failure.collectUntil > now ? failure : undefined
  const until = announces === true ? Infinity : awaitedUntil
  const taken = { holder: token, awaitedUntil: until, failure: kept }
  return { answer: { type: 'lease' }, next: { lease: taken, restart: true } }
}
