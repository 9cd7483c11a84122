import { createHash } from 'node:crypto'
import { runInNewContext } from 'node:vm'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { BreakwaterError } from '../../src/core/errors.ts'
import { entryKey, keyText, oneOffKey, shortKey } from '../../src/core/keys.ts'

const digest = (text: string): string => createHash('sha256').update(text).digest('base64url')
const day = new Date('2026-01-02T03:04:05.678Z')

describe('the text of an argument', () => {
  test.each([
    { given: 'keyboards', expected: 'keyboards' },
    { given: '', expected: '' },
    { given: 'a b\n{x}:@%', expected: 'a b\n{x}:@%' },
    { given: '__proto__', expected: '__proto__' },
    { given: "'quoted", expected: "''quoted" },
    { given: '~true', expected: "'~true" },
    { given: '#5', expected: "'#5" },
    { given: 'a~#', expected: 'a~#' },
    { given: 5, expected: '#5' },
    { given: -0, expected: '#0' },
    { given: 0.1, expected: '#0.1' },
    { given: 1e21, expected: '#1e+21' },
    { given: -Infinity, expected: '#-Infinity' },
    { given: 5n, expected: '#5n' },
    { given: true, expected: '~true' },
    { given: false, expected: '~false' },
    { given: null, expected: '~null' },
    { given: undefined, expected: '~' },
    { given: day, expected: '~2026-01-02T03:04:05.678Z' },
    { given: {}, expected: '~{}' },
    { given: [], expected: '~[]' },
    { given: { b: 1, a: 'x' }, expected: '~{"a":"x","b":1}' },
    { given: { a: undefined, b: null }, expected: '~{"b":null}' },
    { given: [undefined, null, 'null'], expected: '~[undefined,null,"null"]' },
    { given: [-0, 5n, day, [true]], expected: '~[0,5n,2026-01-02T03:04:05.678Z,[true]]' },
    { given: Object.assign(Object.create(null), { a: 1 }), expected: '~{"a":1}' },
    { given: JSON.parse('{"__proto__":{"x":1}}'), expected: '~{"__proto__":{"x":1}}' },
    { given: ['\ud800', '"'], expected: '~["\\ud800","\\""]' },
  ])('$given is $expected (T126, T130)', ({ given, expected }) => {
    expect(keyText(given)).toBe(expected)
  })

  test('is the same for objects, arrays and Dates of another realm', () => {
    const foreign = runInNewContext('({ b: [1, new Date(5)], a: { c: 1 } })')
    expect(keyText(foreign)).toBe(keyText({ a: { c: 1 }, b: [1, new Date(5)] }))
    expect(keyText(runInNewContext('new Date(7)'))).toBe(keyText(new Date(7)))
  })

  class Point {
    x = 1
  }
  class Day extends Date {
    weekday(): number {
      return this.getDay()
    }
  }
  class List extends Array<number> {}
  const cycle: Record<string, unknown> = {}
  cycle['self'] = [cycle]
  const deep = (levels: number): unknown => (levels === 0 ? 1 : [deep(levels - 1)])
  let doubled: unknown = 1
  for (let i = 0; i < 90; i++) doubled = [doubled, doubled]
  const throwing = {
    get token(): string {
      throw new Error('no')
    },
  }
  let bottomless: unknown = 1
  for (let i = 0; i < 1_000_000; i++) bottomless = { in: bottomless }

  test.each([
    { name: 'NaN', given: NaN, says: 'got NaN' },
    { name: 'NaN inside', given: { a: [1, NaN] }, says: 'NaN at $.a[1]' },
    { name: 'a function', given: () => 1, says: 'a function' },
    { name: 'a function inside', given: { 'on-it': () => 1 }, says: 'a function at $["on-it"]' },
    { name: 'a symbol', given: Symbol('s'), says: 'a symbol' },
    { name: 'a symbol as a property', given: { [Symbol('s')]: 1 }, says: 'a symbol as a property' },
    { name: 'a class instance', given: new Point(), says: 'an instance of Point' },
    { name: 'a class instance inside', given: [new Point()], says: 'an instance of Point at $[0]' },
    { name: 'a Map', given: new Map([[1, 2]]), says: 'Map' },
    { name: 'a Set', given: new Set([1]), says: 'Set' },
    { name: 'bytes', given: Buffer.from('x'), says: 'Buffer' },
    { name: 'a typed array', given: new Float64Array(1), says: 'Float64Array' },
    { name: 'a RegExp', given: /x/, says: 'RegExp' },
    { name: 'a URL', given: new URL('http://x/'), says: 'URL' },
    { name: 'a boxed string', given: Object('x'), says: 'String' },
    { name: 'a promise', given: Promise.resolve(1), says: 'Promise' },
    { name: 'a subclass of Date', given: new Day(), says: 'Day' },
    { name: 'a subclass of Array', given: new List(), says: 'List' },
    {
      name: 'an object that only says it is a Date',
      given: Object.create(Date.prototype),
      says: '',
    },
    { name: 'an object with an inherited property', given: Object.create({ a: 1 }), says: '' },
    { name: 'an invalid Date', given: new Date(NaN), says: 'an invalid Date' },
    {
      name: 'an array with a name',
      given: 'ab'.match(/a/),
      says: 'an array with a property "index"',
    },
    { name: 'a cycle', given: cycle, says: 'a cycle at $.self[0]' },
    { name: 'too deep an object', given: deep(101), says: 'more than 100 levels' },
    { name: 'a bottomless object', given: bottomless, says: 'more than 100 levels' },
    { name: 'ever the same object, doubled', given: doubled, says: 'more than 100000 values' },
    { name: 'a getter that throws', given: throwing, says: 'threw while it was read' },
    { name: 'arguments', given: (function () { return arguments })(), says: 'symbol' }, // prettier-ignore
    { name: 'Math', given: Math, says: 'symbol' },
  ])('$name has none: INVALID_KEY (T130)', ({ given, says }) => {
    try {
      keyText(given)
    } catch (error) {
      expect(error).toBeInstanceOf(BreakwaterError)
      expect((error as BreakwaterError).code).toBe('INVALID_KEY')
      expect((error as BreakwaterError).message).toContain(says)
      expect((error as BreakwaterError).message).toContain('`key` function')
      return
    }
    expect.unreachable('a key was made')
  })

  test('is made for 100 levels', () => {
    expect(keyText(deep(100))).toMatch(/^~\[{100}1\]{100}$/)
  })
})

const anyText = fc.string({
  unit: fc.constantFrom(...`ab'~#:@%{}[]",\\n0123456789-`, '\ud83d', 'é'),
})
const leaf = fc.oneof(
  anyText,
  fc.double({ noNaN: true }),
  fc.integer(),
  fc.bigInt(),
  fc.boolean(),
  fc.constantFrom(null, undefined, '', 'null', 'true', 'undefined', '5', '5n', '~', '[]'),
  fc.date({ noInvalidDate: true }),
)
const anyArg = fc.letrec((tie) => ({
  value: fc.oneof({ maxDepth: 4 }, leaf, tie('list'), tie('record')),
  list: fc.array(tie('value'), { maxLength: 4 }),
  record: fc.dictionary(anyText, tie('value'), { maxKeys: 4 }),
})).value

/** Another spelling of the same argument: properties in another order, undefined ones added. */
function respelled(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(respelled)
  if (value === null || typeof value !== 'object' || value instanceof Date) return value
  const turned = Object.entries(value)
    .reverse()
    .map(([name, inner]) => [name, respelled(inner)])
  return Object.fromEntries([...turned, ['added later', undefined]])
}

/** Independent of the code under test: equal as arguments of a load. */
function same(a: unknown, b: unknown): boolean {
  if (typeof a === 'number' && typeof b === 'number') return a === b
  if (a instanceof Date && b instanceof Date) return a.getTime() === b.getTime()
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return a === b
  if (a instanceof Date || b instanceof Date || Array.isArray(a) !== Array.isArray(b)) return false
  if (Array.isArray(a) && Array.isArray(b)) {
    return a.length === b.length && a.every((item, i) => same(item, b[i]))
  }
  const names = new Set([...Object.keys(a), ...Object.keys(b)])
  return [...names].every((name) =>
    same(
      Object.hasOwn(a, name) ? a[name as never] : undefined,
      Object.hasOwn(b, name) ? b[name as never] : undefined,
    ),
  )
}

describe('keys of any arguments', () => {
  test('are equal exactly when the arguments are (T127, T130)', () => {
    fc.assert(
      fc.property(anyArg, anyArg, (a, b) => {
        expect(keyText(a) === keyText(b)).toBe(same(a, b))
      }),
      { numRuns: 3000 },
    )
  })

  test('do not depend on the order of properties or on undefined ones', () => {
    fc.assert(fc.property(anyArg, (arg) => keyText(respelled(arg)) === keyText(arg)))
  })

  test('are equal only for the same resource, version and argument (T129)', () => {
    const name = fc.string({ unit: fc.constantFrom(...'a:@%3A40') })
    const version = fc.option(fc.oneof(name, fc.nat()), { nil: undefined })
    const address = fc.tuple(name, version, name)
    fc.assert(
      fc.property(address, address, (a, b) => {
        const equal = a[0] === b[0] && same(text(a[1]), text(b[1])) && a[2] === b[2]
        expect(entryKey(...a) === entryKey(...b)).toBe(equal)
        expect(entryKey(...a)).not.toBe(oneOffKey(b[2]))
      }),
      { numRuns: 3000 },
    )
  })

  const text = (version: unknown): unknown => (version === undefined ? undefined : `${version}`)

  test('of a resource and one-off keys read as they were given', () => {
    expect(entryKey('trending', undefined, 'key:boards')).toBe('r:trending:key:boards')
    expect(entryKey('a:b@c%', 2, '#5')).toBe('r:a%3Ab%40c%25@2:#5')
    expect(oneOffKey('r:trending:x')).toBe('k:r:trending:x')
    expect(() => oneOffKey(5 as never)).toThrow('key: expected text, got number')
  })
})

describe('a long key', () => {
  test.each([
    { name: '512 bytes', given: 'k:' + 'x'.repeat(510), kept: true },
    { name: '513 bytes', given: 'k:' + 'x'.repeat(511), kept: false },
    { name: '512 bytes in 3-byte characters', given: 'k:' + '€'.repeat(170), kept: true },
    { name: '515 bytes in 3-byte characters', given: 'k:' + '€'.repeat(171), kept: false },
    { name: 'a megabyte', given: 'k:' + 'x'.repeat(1e6), kept: false },
    { name: 'nothing', given: '', kept: true },
  ])('of $name is kept: $kept', ({ given, kept }) => {
    const short = shortKey(given, digest)
    expect(short === given).toBe(kept)
    expect(Buffer.byteLength(short)).toBeLessThanOrEqual(512)
    expect(short.slice(0, 50)).toBe(given.slice(0, 50))
  })

  test('cannot be reached by whoever writes down its short form (T129)', () => {
    const long = 'k:' + 'x'.repeat(600)
    const short = shortKey(long, digest)
    expect(shortKey(short, digest)).not.toBe(short)
    expect(shortKey(shortKey(short, digest), digest)).not.toBe(shortKey(short, digest))
  })

  test('differs from another in a lone surrogate', () => {
    const a = shortKey('k:' + 'x'.repeat(600) + '\ud800', digest)
    const b = shortKey('k:' + 'x'.repeat(600) + '\ud801', digest)
    expect(a).not.toBe(b)
  })

  test('is not cut inside a character', () => {
    const short = shortKey('k:' + 'x'.repeat(125) + '😀'.repeat(300), digest)
    expect(Buffer.from(short).toString()).toBe(short)
  })

  test('needs a digest of the agreed length', () => {
    expect(() => shortKey('x'.repeat(600), () => 'short')).toThrow('digest: expected 43')
  })
})
