import { expect, it } from 'vitest'
import { httpDate } from '../../../src/http/http-date.ts'
import { bornAt } from './records.ts'

const example = Date.UTC(1994, 10, 6, 8, 49, 37)

it.each([
  { given: 'Sun, 06 Nov 1994 08:49:37 GMT', expected: example },
  { given: 'Sunday, 06-Nov-94 08:49:37 GMT', expected: example },
  { given: 'Sun Nov  6 08:49:37 1994', expected: example },
  { given: 'Sunday, 06-Nov-76 08:49:37 GMT', expected: Date.UTC(2076, 10, 6, 8, 49, 37) },
  { given: 'Sunday, 06-Nov-77 08:49:37 GMT', expected: Date.UTC(1977, 10, 6, 8, 49, 37) },
  { given: 'Thu, 29 Feb 2024 00:00:00 GMT', expected: Date.UTC(2024, 1, 29) },
  { given: 'Sat, 31 Dec 2016 23:59:60 GMT', expected: Date.UTC(2017, 0, 1) },
  { given: 'Fri, 31 Dec 9999 23:59:59 GMT', expected: Date.UTC(9999, 11, 31, 23, 59, 59) },
  { given: 'Thu, 01 Jan 0001 00:00:00 GMT', expected: new Date('0001-01-01T00:00:00Z').getTime() },
  { given: undefined, expected: undefined },
  { given: '', expected: undefined },
  { given: '0', expected: undefined },
  { given: '-1', expected: undefined },
  { given: '2099', expected: undefined },
  { given: 'tomorrow', expected: undefined },
  { given: '2026-01-01T00:00:00Z', expected: undefined },
  { given: 'Thu, 30 Feb 2024 00:00:00 GMT', expected: undefined },
  { given: 'Thu, 00 Jan 2024 00:00:00 GMT', expected: undefined },
  { given: 'Thu, 01 anF 2024 00:00:00 GMT', expected: undefined },
  { given: 'Thu, 01 Jan 2024 24:00:00 GMT', expected: undefined },
  { given: 'Thu, 01 Jan 2024 00:60:00 GMT', expected: undefined },
  { given: 'Thu, 01 Jan 2024 00:00:00 UTC', expected: undefined },
  { given: 'Thu, 01 Jan 2024 00:00:00 +0100', expected: undefined },
  { given: 'Thu, 01 Jan 2024 00:00:00 GMT, Thu, 01 Jan 2024 00:00:00 GMT', expected: undefined },
])('RFC 9110, 5.6.7: the date `$given` is read by the letter', ({ given, expected }) => {
  expect(httpDate(given, bornAt)).toBe(expected)
})
