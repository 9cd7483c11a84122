// What an outage came to: from each request's own instant, whoever of the processes it was asked of.

import { percentile } from '../measure/statistics.ts'
import {
  connectTimeoutMs,
  loadMs,
  storeTimeoutMs,
  type Asked,
  type Fault,
  type Situation,
  type Told,
} from './plan.ts'

export interface OutageFigures {
  readonly requests: number
  readonly errors: readonly string[]
  /** Beyond the load, from the instant at which the request was due. */
  readonly p50First: number
  readonly p99First: number
  readonly p99After: number
  /** How late the processes themselves came to their requests during the outage: part of the above. */
  readonly p99Late: number
  /** In one process. */
  readonly mostLoads: number
  /** Of what Redis can have by then, 2 s after its return: how much was not loaded, in percent. */
  readonly backShare: number
  /** Until every process says `ok`; 99,999: not before the end. */
  readonly okAfterMs: number
}

export interface Outage {
  readonly situation: Situation
  readonly fault: Fault
  readonly beganAt: number
  readonly endedAt: number
}

/** The first requests pay one deadline: the store's, or, before it was ever there, the connection's. */
export function firstDeadlineMs(fault: Fault): number {
  return fault === 'started late' ? connectTimeoutMs : storeTimeoutMs
}

/** Not before the end of what was looked at. */
const neverMs = 99_999

export const graceMs = { first: 20, after: 25 }

export function figuresOf(told: readonly Told[], outage: Outage): OutageFigures {
  const { beganAt, endedAt } = outage
  const asked = told.flatMap((it) => it.asked)
  const between = (from: number, to: number): Asked[] =>
    asked.filter(([due]) => due >= from && due < to)
  const firstUntil = beganAt + Math.max(1_000, firstDeadlineMs(outage.fault))
  const first = between(beganAt, firstUntil).map(beyondLoad)
  const after = between(firstUntil, endedAt).map(beyondLoad)
  return {
    requests: asked.length,
    errors: told.flatMap(({ errors }) => errors),
    p50First: percentile(first, 50),
    p99First: percentile(first, 99),
    p99After: percentile(after, 99),
    p99Late: percentile(
      between(beganAt, endedAt).map(([, lateMs]) => lateMs),
      99,
    ),
    mostLoads: Math.max(...told.map(({ mostLoads }) => mostLoads)),
    backShare: backShare(asked, outage),
    okAfterMs: Math.max(...told.map(({ health }) => okAfter(health, endedAt))),
  }
}

function beyondLoad([, , tookMs, answer]: Asked): number {
  const loaded = answer === 'loaded' || answer === 'waited'
  return Math.max(0, tookMs - (loaded ? loadMs : 0))
}

/**
 * From 2 s after its return on. A Redis that kept its data is to answer all that it had before; one
 * that came back empty, and a key that is asked for the first time, only what was asked for since
 * its return, once before: 100 ms are given to the load and its publish.
 */
function backShare(asked: readonly Asked[], { situation, fault, endedAt }: Outage): number {
  const isEmpty = fault === 'killed' || fault === 'started late' || situation === 'cold'
  const firstAskedAt = new Map<string, number>()
  const backAt = endedAt + 2_000
  for (const [due, , , , key] of asked) {
    // Empty: what was loaded before it was used again is stored by the next who asks.
    if (isEmpty && due < backAt) continue
    firstAskedAt.set(key, Math.min(due, firstAskedAt.get(key) ?? Infinity))
  }
  const judged = asked.filter(([due, , , , key]) => {
    if (due < backAt) return false
    return !isEmpty || due > (firstAskedAt.get(key) ?? Infinity) + 100
  })
  const loaded = judged.filter(([, , , answer]) => answer === 'loaded' || answer === 'failed')
  return 100 - (100 * loaded.length) / judged.length
}

function okAfter(health: Told['health'], endedAt: number): number {
  const last = health.at(-1)
  if (last === undefined || last[1] !== 'ok') return neverMs
  return Math.max(0, last[0] - endedAt)
}
