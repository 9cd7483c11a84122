import { describe, expect, test } from 'vitest'
import { byteSize } from '../../src/core/byte-size.ts'
import { BreakwaterError } from '../../src/core/errors.ts'

describe('a size', () => {
  test.each([
    { given: 1, expected: 1 },
    { given: 1000.2, expected: 1001 },
    { given: '512B', expected: 512 },
    { given: '2KiB', expected: 2048 },
    { given: '1.5KiB', expected: 1536 },
    { given: '64MiB', expected: 64 * 1024 ** 2 },
    { given: '4GiB', expected: 4 * 1024 ** 3 },
  ])('of $given is $expected bytes', ({ given, expected }) => {
    expect(byteSize(given, 'maxBytes')).toBe(expected)
  })

  test.each(
    [
      NaN,
      0,
      -1,
      Infinity,
      2 ** 60,
      '',
      '0B',
      '-1B',
      ' 1B',
      '1 KiB',
      '1e3B',
      'KiB',
      '1Kib',
      null,
      undefined,
      true,
      {},
      [],
      5n,
    ].map((given) => ({ given })),
  )('of $given is refused with the name of the option', ({ given }) => {
    const refuse = () => byteSize(given, 'memory.maxBytes')
    expect(refuse).toThrow(BreakwaterError)
    expect(refuse).toThrow(/^memory\.maxBytes: expected .+, got /)
  })

  test.each([
    { given: '64MB', near: '64MiB' },
    { given: '64mb', near: '64MiB' },
    { given: '8kb', near: '8KiB' },
    { given: '1G', near: '1GiB' },
    { given: '1024', near: '1024B' },
  ])('of $given is refused, $near is proposed', ({ given, near }) => {
    expect(() => byteSize(given, 'maxBytes')).toThrow(`did you mean '${near}'`)
  })
})
