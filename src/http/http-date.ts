/**
 * Dates of HTTP in their three forms (RFC 9110, 5.6.7), and nothing else: `Date.parse` takes `0` for
 * the year 2000 and `2099` for a date, which would make invalid fields valid.
 */

const months = 'JanFebMarAprMayJunJulAugSepOctNovDec'
const time = '(\\d\\d):(\\d\\d):(\\d\\d)'
const current = new RegExp(`^[A-Z][a-z]{2}, (\\d\\d) ([A-Z][a-z]{2}) (\\d{4}) ${time} GMT$`)
const rfc850 = new RegExp(`^[A-Z][a-z]{5,8}, (\\d\\d)-([A-Z][a-z]{2})-(\\d\\d) ${time} GMT$`)
const asctime = new RegExp(`^[A-Z][a-z]{2} ([A-Z][a-z]{2}) ([ \\d]\\d) ${time} (\\d{4})$`)

/** Milliseconds since 1970. A year of two digits is the one at most 50 years after `now`. */
export function httpDate(text: string | undefined, now: number): number | undefined {
  if (text === undefined) return undefined
  let found = current.exec(text)
  if (found !== null) {
    const [, day, month, year, ...clock] = found
    return instant(Number(year), month, day, clock)
  }
  found = rfc850.exec(text)
  if (found !== null) {
    const [, day, month, short, ...clock] = found
    const thisYear = new Date(now).getUTCFullYear()
    const year = thisYear - (thisYear % 100) + Number(short)
    return instant(year > thisYear + 50 ? year - 100 : year, month, day, clock)
  }
  found = asctime.exec(text)
  if (found === null) return undefined
  const [, month, day, hour = '', minute = '', second = '', year] = found
  return instant(Number(year), month, day, [hour, minute, second])
}

function instant(
  year: number,
  month: string | undefined,
  day: string | undefined,
  clock: readonly string[],
): number | undefined {
  const at = months.indexOf(month ?? '')
  if (at < 0) return undefined
  const [hour, minute, second] = clock.map(Number) as [number, number, number]
  // 60 is a leap second.
  if (hour > 23 || minute > 59 || second > 60) return undefined
  const date = new Date(0)
  date.setUTCFullYear(year, at / 3, Number(day))
  if (date.getUTCDate() !== Number(day)) return undefined
  return date.setUTCHours(hour, minute, second)
}
