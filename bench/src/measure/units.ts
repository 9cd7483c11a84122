// How figures are written: enough digits to tell two of them apart, no more.

import type { Spread } from './statistics.ts'

export type Unit = 'ratio' | 'ms' | 'us' | 'ns' | 'bytes' | 'count' | 'percent'

export function write(value: number, unit: Unit): string {
  switch (unit) {
    case 'ratio':
      return value >= 100 ? value.toFixed(0) : value >= 10 ? value.toFixed(1) : value.toFixed(2)
    case 'ms':
      return value.toFixed(value < 10 ? 2 : value < 100 ? 1 : 0)
    case 'us':
      return value.toFixed(value < 100 ? 1 : 0)
    case 'ns':
    case 'bytes':
      return value.toFixed(0)
    case 'percent':
      return `${value.toFixed(1)} %`
    case 'count':
      return value.toFixed(Number.isInteger(value) ? 0 : 1)
  }
}

/** `0.62 (0.58 … 0.66)`, or the median alone. */
export function writeSpread({ median, min, max }: Spread, unit: Unit, brief = false): string {
  const middle = write(median, unit)
  return brief || min === max ? middle : `${middle} (${write(min, unit)} … ${write(max, unit)})`
}
