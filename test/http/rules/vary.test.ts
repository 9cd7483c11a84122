import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Fields } from '../../../src/http/message.ts'
import { mergedVary, selecting, selectionOf, varies } from '../../../src/http/vary.ts'

describe('which fields', () => {
  it.each([
    { says: 'without `Vary`, none', given: undefined, expected: [] },
    { says: 'an empty one names none', given: ' , ', expected: [] },
    {
      says: 'names are of any case, and once each',
      given: 'Accept, accept ,ACCEPT',
      expected: ['accept'],
    },
    { says: 'the order of names says nothing', given: 'b, A', expected: ['a', 'b'] },
    { says: 'several lines are one list', given: ['b', 'a'], expected: ['a', 'b'] },
    { says: 'a star among names is a star', given: 'a, *, b', expected: '*' },
    { says: 'what is no name may mean anything', given: 'a b', expected: '*' },
  ])('T136 RFC 9110, 12.5.5: $says', ({ given, expected }) => {
    expect(varies({ vary: given })).toEqual(expected)
  })
})

describe('selections', () => {
  const same: { says: string; names: string[]; one: Fields; other: Fields }[] = [
    {
      says: 'whitespace around a value says nothing',
      names: ['a'],
      one: { a: ' x\t' },
      other: { a: 'x' },
    },
    {
      says: 'whitespace around commas says nothing',
      names: ['a'],
      one: { a: 'x ,\ty' },
      other: { a: 'x,y' },
    },
    { says: 'two lines are one list', names: ['a'], one: { a: ['x', 'y'] }, other: { a: 'x, y' } },
    {
      says: 'fields that are not named say nothing',
      names: ['a'],
      one: { a: 'x', b: '1' },
      other: { a: 'x', b: '2' },
    },
    { says: 'without names all are the same', names: [], one: { a: 'x' }, other: {} },
    {
      says: 'codings in any order are the same',
      names: ['accept-encoding'],
      one: { 'accept-encoding': 'gzip, br' },
      other: { 'accept-encoding': 'br,gzip;q=0.9' },
    },
    {
      says: 'codings that nobody uses are left out',
      names: ['accept-encoding'],
      one: { 'accept-encoding': 'gzip, sdch' },
      other: { 'accept-encoding': 'gzip' },
    },
    {
      says: '`x-gzip` is `gzip`',
      names: ['accept-encoding'],
      one: { 'accept-encoding': 'x-gzip' },
      other: { 'accept-encoding': 'gzip' },
    },
  ]
  it.each(same)('RFC 9111, 4.1: $says', ({ names, one, other }) => {
    expect(selectionOf(names, one)).toBe(selectionOf(names, other))
  })

  const different: { says: string; names: string[]; one: Fields; other: Fields }[] = [
    { says: 'absent and empty differ', names: ['a'], one: {}, other: { a: '' } },
    {
      says: 'absent and empty codings differ',
      names: ['accept-encoding'],
      one: {},
      other: { 'accept-encoding': '' },
    },
    { says: 'the case of a value counts', names: ['a'], one: { a: 'x' }, other: { a: 'X' } },
    {
      says: 'whitespace in a quoted string counts',
      names: ['a'],
      one: { a: '"x ,y"' },
      other: { a: '"x,y"' },
    },
    { says: 'the order of a list counts', names: ['a'], one: { a: 'x,y' }, other: { a: 'y,x' } },
    {
      says: 'a value does not go over into the next',
      names: ['a', 'b'],
      one: { a: 'x', b: 'y' },
      other: { a: 'x"],["b","y', b: '' },
    },
    {
      says: 'which of two is absent counts',
      names: ['a', 'b'],
      one: { a: 'x' },
      other: { b: 'x' },
    },
    {
      says: 'a coding that is refused counts',
      names: ['accept-encoding'],
      one: { 'accept-encoding': 'gzip, br;q=0' },
      other: { 'accept-encoding': 'gzip, br' },
    },
    {
      says: 'a client that takes only encoded bodies is apart',
      names: ['accept-encoding'],
      one: { 'accept-encoding': 'gzip, identity;q=0' },
      other: { 'accept-encoding': 'gzip' },
    },
  ]
  it.each(different)('T136 RFC 9111, 4.1: $says', ({ names, one, other }) => {
    expect(selectionOf(names, one)).not.toBe(selectionOf(names, other))
  })

  it('two requests have one selection only if no named field differs but in whitespace of lists', () => {
    const value = fc.option(
      fc.oneof(
        fc.string({ unit: fc.constantFrom('x', '"', ',', ' ', '[', ']', '\\', ':') }),
        fc.string({ unit: 'binary' }),
      ),
      { nil: undefined },
    )
    const names = ['a', 'b']
    const request = fc.record({ a: value, b: value })
    // Whatever is taken out, is whitespace: the rest is the same, in its order.
    const rest = ({ a, b }: { a?: string | undefined; b?: string | undefined }) =>
      JSON.stringify([a ?? null, b ?? null].map((text) => text?.replace(/[\t ]/g, '') ?? null))
    fc.assert(
      fc.property(request, request, (one, other) => {
        if (rest(one) === rest(other)) return
        expect(selectionOf(names, one)).not.toBe(selectionOf(names, other))
      }),
      { numRuns: 2_000 },
    )
  })

  it('whitespace counts wherever a list may not have it', () => {
    const word = fc.stringMatching(/^[a-z]+$/)
    const gap = fc.stringMatching(/^[ \t]+$/)
    fc.assert(
      fc.property(word, gap, word, (one, space, other) => {
        const [apart, together] = [`${one}${space}${other}`, `${one}${other}`]
        expect(selectionOf(['a'], { a: apart })).not.toBe(selectionOf(['a'], { a: together }))
        const quoted = { a: `x, "${apart}"` }
        expect(selectionOf(['a'], quoted)).not.toBe(selectionOf(['a'], { a: `x, "${together}"` }))
      }),
    )
  })
})

it('no value of a visitor takes time that grows with its square', () => {
  const pieces = [' ', ' x', '"', '"\\', '\\"', ',', ' ,', '" ,', 'gzip;', 'gzip,', ';q=']
  for (const piece of pieces) {
    // Forty times what Node takes: were it the square, this would be minutes.
    const text = `a${piece.repeat(Math.ceil(600_000 / piece.length))}b`
    selectionOf(['a', 'accept-encoding'], { a: text, 'accept-encoding': text })
  }
})

it('the fields that chose are given as they came', () => {
  const request = { accept: ['a', 'b'], cookie: 'c' }
  expect(selecting(['accept', 'x-absent'], request)).toEqual({ accept: ['a', 'b'] })
  expect(selecting(['constructor', 'to-string'], {})).toEqual({})
})

it.each([
  { given: [undefined, []], expected: '' },
  { given: [undefined, ['accept']], expected: 'accept' },
  { given: ['Accept', ['accept', 'cookie']], expected: 'Accept, cookie' },
  { given: ['Accept, ACCEPT', []], expected: 'Accept' },
  { given: ['Accept, *', ['cookie']], expected: '*' },
  { given: ['Accept', ['*']], expected: '*' },
] as const)('T136: `Vary` of $given is merged without regard to case', ({ given, expected }) => {
  expect(mergedVary(given[0], given[1])).toBe(expected)
})
