// From the text of an option to its value. What cannot be is refused with the option's name, what was
// expected and what came.

import { parseDuration } from 'breakwater'
import type { LoadTimes } from './model/load-times.ts'
import { expected } from './misuse.ts'

export interface Bounds {
  readonly least: number
  readonly most: number
  readonly whole?: true
}

export function numberIn(option: string, text: string, { least, most, whole }: Bounds): number {
  const value = text.trim() === '' ? NaN : Number(text.replaceAll('_', ''))
  if (value >= least && value <= most && (whole !== true || Number.isInteger(value))) return value
  const kind = whole === true ? 'a whole number' : 'a number'
  const range = most === Infinity ? `of at least ${least}` : `from ${least} to ${most}`
  throw expected(option, `${kind} ${range}`, text)
}

const durations = "a duration such as '250ms', '30s', '10m', '1h'"

export function durationIn(option: string, text: string, least: 0 | 1 = 1): number {
  try {
    const ms = text === '0' ? 0 : parseDuration(text)
    if (ms >= least) return ms
  } catch {
    // said below, with the option's name
  }
  throw expected(option, least === 0 ? `${durations}, or 0` : durations, text)
}

export function loadTimesIn(option: string, text: string): LoadTimes {
  const [kind, rest] = text.includes(':') ? text.split(':', 2) : ['fixed', text]
  const parts = (rest ?? '').split(',')
  const [first, second] = parts
  if (kind === 'fixed' && parts.length === 1) return { kind, ms: durationIn(option, text) }
  if (kind === 'exponential' && first !== undefined && parts.length === 1) {
    return { kind, meanMs: durationIn(option, first) }
  }
  if (kind === 'lognormal' && first !== undefined && second !== undefined && parts.length === 2) {
    const p50Ms = durationIn(option, first)
    const p99Ms = durationIn(option, second)
    if (p99Ms < p50Ms) throw expected(option, 'a p99 that is no less than the p50', text)
    return { kind, p50Ms, p99Ms }
  }
  throw expected(
    option,
    "'200ms', 'exponential:200ms' (mean) or 'lognormal:200ms,1s' (p50,p99)",
    text,
  )
}

export function oneOf<T extends string>(option: string, text: string, all: readonly T[]): T {
  const found = all.find((one) => one === text)
  if (found === undefined) throw expected(option, all.join(', '), text)
  return found
}
