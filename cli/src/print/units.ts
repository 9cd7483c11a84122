/** Durations, sizes, shares and instants as a person reads them. */

export function duration(ms: number): string {
  if (ms < 1_000) return `${round(ms, ms < 10 ? 1 : 0)} ms`
  const seconds = ms / 1_000
  if (seconds < 60) return `${round(seconds, 1)} s`
  const steps: readonly (readonly [number, string, number, string])[] = [
    [3_600, 'min', 60, 's'],
    [86_400, 'h', 3_600, 'min'],
    [Infinity, 'd', 86_400, 'h'],
  ]
  const [, big, size, small] = steps.find(([limit]) => seconds < limit)!
  const whole = Math.floor(seconds / size)
  const smaller = { s: 1, min: 60, h: 3_600 }[small as 's' | 'min' | 'h']
  const rest = Math.floor((seconds % size) / smaller)
  return rest === 0 ? `${whole} ${big}` : `${whole} ${big} ${rest} ${small}`
}

export function bytes(count: number): string {
  if (count < 1_024) return count === 1 ? '1 byte' : `${count} bytes`
  const units = ['KiB', 'MiB', 'GiB', 'TiB']
  let size = count / 1_024
  let unit = 0
  while (size >= 1_024 && unit < units.length - 1) {
    size /= 1_024
    unit++
  }
  return `${round(size, 1)} ${units[unit]}`
}

export function perSecond(count: number): string {
  if (count >= 100_000) return `${round(count / 1_000, 0)}k`
  return count >= 100 ? String(Math.round(count)) : round(count, 1)
}

export function share(part: number, whole: number): string {
  return whole === 0 ? '–' : `${round((100 * part) / whole, 1)} %`
}

export function instant(ms: number): string {
  return new Date(ms).toISOString().replace('T', ' ').replace('Z', ' UTC')
}

function round(value: number, digits: number): string {
  return String(Number(value.toFixed(digits)))
}
