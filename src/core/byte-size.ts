/** Sizes: bytes, or text with a binary unit. `MB` is refused: half of its readers mean 1,000,000. */
import { BreakwaterError, invalidOption } from './errors.ts'

const unitBytes = { B: 1, KiB: 1024, MiB: 1024 ** 2, GiB: 1024 ** 3 } as const
const pattern = /^(\d+(?:\.\d+)?)([A-Za-z]*)$/
const expected = "bytes or text such as '512B', '64KiB', '8MiB', '1GiB'"

/** An option's value to whole bytes, at least 1; throws `INVALID_OPTION` with the option's name. */
export function byteSize(value: unknown, option: string): number {
  const bytes = typeof value === 'string' ? textBytes(value, option) : value
  if (typeof bytes !== 'number' || !(bytes > 0) || bytes > Number.MAX_SAFE_INTEGER) {
    throw invalidOption(option, expected, value)
  }
  return Math.ceil(bytes)
}

function textBytes(text: string, option: string): number {
  const [, amount, unit] = pattern.exec(text) ?? []
  if (amount === undefined || unit === undefined) throw invalidOption(option, expected, text)
  if (Object.hasOwn(unitBytes, unit))
    return Number(amount) * unitBytes[unit as keyof typeof unitBytes]
  const near = nearestUnit(unit)
  if (near === undefined) throw invalidOption(option, expected, text)
  throw new BreakwaterError(
    'INVALID_OPTION',
    `${option}: expected ${expected}, got '${text}'; did you mean '${amount}${near}' (a unit of 1024)?`,
  )
}

function nearestUnit(unit: string): string | undefined {
  if (unit === '') return 'B'
  return Object.keys(unitBytes).find((known) => known[0] === unit[0]!.toUpperCase())
}
