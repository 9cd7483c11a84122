/**
 * Durations: milliseconds, or text with a unit. Whole milliseconds come out, rounded up, so that a
 * tiny lifetime never becomes none. Any finite length is accepted; whoever sets a timer splits what
 * is over 2³¹−1 ms. NaN, negatives and infinities are refused here, since an arithmetic with them
 * ends in "never expires".
 */
import { BreakwaterError, invalidOption } from './errors.ts'

const unitMs = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const
const pattern = /^(\d+(?:\.\d+)?)(ms|s|m|h|d)$/
const expected = "milliseconds or text such as '250ms', '30s', '10m', '1h', '7d'"

/** 100 million days: what a Date can hold, and far from where a float loses whole milliseconds. */
const maxMs = 8.64e15

/**
 * Text such as `'250ms'`, `'30s'`, `'10m'`, `'1h'`, `'7d'` to milliseconds; for configuration that
 * comes as text. Fractions are rounded up to a whole millisecond. Throws `INVALID_OPTION`.
 */
export function parseDuration(text: string): number {
  if (typeof text !== 'string') throw invalidOption('duration', expected, text)
  return durationMs(text, 'duration', { allowZero: true })
}

export interface DurationRules {
  readonly allowZero?: boolean
}

/** An option's value to whole milliseconds; throws `INVALID_OPTION` with the option's name. */
export function durationMs(value: unknown, option: string, rules: DurationRules = {}): number {
  const ms = typeof value === 'string' ? textMs(value, option) : value
  if (typeof ms !== 'number' || !(ms >= 0) || ms > maxMs)
    throw invalidOption(option, expected, value)
  if (ms === 0 && rules.allowZero !== true) {
    throw invalidOption(option, 'a duration greater than 0', value)
  }
  return roundUp(ms)
}

function textMs(text: string, option: string): number {
  const [, amount, unit] = pattern.exec(text) ?? []
  if (amount === undefined || unit === undefined) {
    if (/^\d+(?:\.\d+)?$/.test(text)) {
      throw new BreakwaterError(
        'INVALID_OPTION',
        `${option}: expected a unit after the number, as in '${text}ms' or '${text}s', got '${text}'`,
      )
    }
    throw invalidOption(option, expected, text)
  }
  return Number(amount) * unitMs[unit as keyof typeof unitMs]
}

/** `1.1 * 1000` is 1100.0000000000002: that is 1100, not 1101. `+ 0` turns −0 into 0. */
function roundUp(ms: number): number {
  const nearest = Math.round(ms)
  return nearest > 0 && Math.abs(ms - nearest) <= nearest * 1e-15 ? nearest : Math.ceil(ms) + 0
}
