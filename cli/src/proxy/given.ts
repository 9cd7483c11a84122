/** From the text of an option to its value; what cannot be is refused by the name it was given under. */
import { parseDuration } from 'breakwater'
import { usage } from '../ending.ts'
import type { Said } from './sources.ts'

export function countIn({ text, as }: Said, least: number, most: number): number {
  const value = /^\d{1,9}$/.test(text.trim()) ? Number(text) : NaN
  if (value >= least && value <= most) return value
  throw expected(as, `a whole number from ${least} to ${most}`, text)
}

export function durationIn({ text, as }: Said, least: 0 | 1): number {
  try {
    const ms = text === '0' ? 0 : parseDuration(text)
    if (ms >= least && /^0$|[a-z]/i.test(text)) return ms
  } catch {
    // said below, with the option's name
  }
  const durations = "a duration such as '500ms', '30s', '10m'"
  throw expected(as, least === 0 ? `${durations}, or 0` : durations, text)
}

const units: Readonly<Record<string, number>> = { B: 1, KiB: 2 ** 10, MiB: 2 ** 20, GiB: 2 ** 30 }

export function sizeIn({ text, as }: Said, least: number): number {
  const [, digits = '', unit = 'B'] = /^(\d{1,12})(B|KiB|MiB|GiB)?$/.exec(text) ?? []
  const bytes = digits === '' ? NaN : Number(digits) * units[unit]!
  if (bytes >= least && Number.isSafeInteger(bytes)) return bytes
  throw expected(as, `a size of at least ${least} bytes such as '64KiB' or '2MiB'`, text)
}

export function flagIn({ text, as }: Said): boolean {
  if (text === 'true' || text === '1') return true
  if (text === 'false' || text === '0') return false
  throw expected(as, 'true or false', text)
}

export function listIn({ text }: Said): string[] {
  return text
    .split(',')
    .map((one) => one.trim())
    .filter((one) => one !== '')
}

export function expected(as: string, what: string, got: string): Error {
  return usage(`${as}: expected ${what}, got ${JSON.stringify(got.slice(0, 200))}`)
}
