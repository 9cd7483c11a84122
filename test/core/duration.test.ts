import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { durationMs, parseDuration } from '../../src/core/duration.ts'
import { BreakwaterError } from '../../src/core/errors.ts'

describe('a duration', () => {
  test.each([
    { given: '250ms', expected: 250 },
    { given: '0ms', expected: 0 },
    { given: '1s', expected: 1_000 },
    { given: '1.5s', expected: 1_500 },
    { given: '1.1s', expected: 1_100 },
    { given: '0.0001s', expected: 1 },
    { given: '0.3ms', expected: 1 },
    { given: '10m', expected: 600_000 },
    { given: '1h', expected: 3_600_000 },
    { given: '30d', expected: 2_592_000_000 },
    { given: '3650d', expected: 315_360_000_000 },
  ])('of $given is $expected ms', ({ given, expected }) => {
    expect(parseDuration(given)).toBe(expected)
    expect(durationMs(given, 'ttl', { allowZero: true })).toBe(expected)
  })

  test.each([
    { given: 1, expected: 1 },
    { given: 0.2, expected: 1 },
    { given: 1500.4, expected: 1501 },
    { given: 2 ** 31 - 1, expected: 2 ** 31 - 1 },
    { given: 2 ** 31, expected: 2 ** 31 },
    { given: 1e12, expected: 1e12 },
    { given: Number.MIN_VALUE, expected: 1 },
  ])('of the number $given is $expected ms', ({ given, expected }) => {
    expect(durationMs(given, 'ttl')).toBe(expected)
  })

  test.each(
    [
      NaN,
      -1,
      -0.5,
      Infinity,
      -Infinity,
      1e300,
      '',
      ' 1s',
      '1 s',
      '1s ',
      '-1s',
      '+1s',
      '1e3s',
      '60',
      '1S',
      '1sec',
      '.5s',
      '1.s',
      'NaNms',
      'Infinityms',
      '1h30m',
      '0x10ms',
      '9'.repeat(400) + 'd',
      null,
      undefined,
      true,
      false,
      {},
      [],
      [1000],
      10n,
      new Date(5),
      () => 5,
      Symbol('s'),
    ].map((given) => ({ given })),
  )('of $given is refused with the name of the option (T042)', ({ given }) => {
    const refuse = () => durationMs(given, 'staleIfError', { allowZero: true })
    expect(refuse).toThrow(BreakwaterError)
    expect(refuse).toThrow(/^staleIfError: expected .+, got /)
  })

  test('of 0 is refused where nothing would be meant by it (T043)', () => {
    expect(durationMs(0, 'ttl', { allowZero: true })).toBe(0)
    expect(Object.is(durationMs(-0, 'ttl', { allowZero: true }), 0)).toBe(true)
    expect(() => durationMs(0, 'lease')).toThrow('lease: expected a duration greater than 0, got 0')
    expect(() => durationMs('0s', 'lease')).toThrow('got "0s"')
  })

  test('without a unit is told which units there are', () => {
    expect(() => parseDuration('60')).toThrow("as in '60ms' or '60s'")
  })

  test('is always a whole number of milliseconds that is not less than what was given', () => {
    fc.assert(
      fc.property(fc.double({ min: 0, max: 1e12, noNaN: true }), (given) => {
        const ms = durationMs(given, 'ttl', { allowZero: true })
        expect(Number.isSafeInteger(ms)).toBe(true)
        expect(ms).toBeGreaterThanOrEqual(given * (1 - 1e-15))
        expect(ms).toBeLessThanOrEqual(given + 1)
        expect(given > 0).toBe(ms > 0)
      }),
    )
  })

  test('as text from the environment must be text', () => {
    expect(() => parseDuration(undefined as never)).toThrow('duration: expected')
    expect(() => parseDuration(5 as never)).toThrow('duration: expected')
  })
})
