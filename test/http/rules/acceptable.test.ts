import { expect, it } from 'vitest'
import { acceptsCoding } from '../../../src/http/acceptable.ts'
import { get } from './records.ts'

it.each([
  { accepts: undefined, coding: undefined, expected: true },
  { accepts: undefined, coding: 'gzip', expected: false },
  { accepts: '', coding: undefined, expected: true },
  { accepts: '', coding: 'gzip', expected: false },
  { accepts: 'identity', coding: 'gzip', expected: false },
  { accepts: 'gzip', coding: 'gzip', expected: true },
  { accepts: 'GZIP', coding: 'gzip', expected: true },
  { accepts: 'gzip', coding: ' GZip ', expected: true },
  { accepts: 'gzip', coding: 'x-gzip', expected: true },
  { accepts: 'x-gzip', coding: 'gzip', expected: true },
  { accepts: 'gzip', coding: undefined, expected: true },
  { accepts: 'gzip', coding: '', expected: true },
  { accepts: 'gzip', coding: 'identity', expected: true },
  { accepts: 'gzip;q=0', coding: 'gzip', expected: false },
  { accepts: 'gzip;q=0.001', coding: 'gzip', expected: true },
  { accepts: 'gzip, br', coding: 'gzip, br', expected: true },
  { accepts: 'gzip', coding: 'gzip, br', expected: false },
  { accepts: 'gzip', coding: 'gzip, gzip', expected: true },
  { accepts: '*', coding: 'zstd', expected: true },
  { accepts: '*', coding: 'unheard-of', expected: true },
  { accepts: '*;q=0', coding: undefined, expected: false },
  { accepts: '*;q=0, identity', coding: undefined, expected: true },
  { accepts: 'gzip, *;q=0', coding: 'br', expected: false },
  { accepts: 'gzip, identity;q=0', coding: undefined, expected: false },
  { accepts: 'br', coding: 'unheard-of', expected: false },
])(
  'T138 RFC 9110, 12.5.3: a client that accepts `$accepts` may have a body in `$coding`: $expected',
  ({ accepts, coding, expected }) => {
    expect(acceptsCoding(get({ 'accept-encoding': accepts }), coding)).toBe(expected)
  },
)

it('more different texts than are remembered are all read right', () => {
  for (let index = 0; index < 1_000; index += 1) {
    const request = get({ 'accept-encoding': `x-${index}, ${index % 2 === 0 ? 'gzip' : 'br'}` })
    expect(acceptsCoding(request, 'gzip')).toBe(index % 2 === 0)
  }
})
