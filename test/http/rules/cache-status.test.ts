import fc from 'fast-check'
import { parseList, Token } from 'structured-headers'
import { expect, it } from 'vitest'
import { appended, cacheStatus } from '../../../src/http/cache-status.ts'

const { hit, fwd } = cacheStatus('breakwater')

it.each([
  { says: '2.1: a hit with its lifetime', given: hit(376), expected: 'breakwater;hit;ttl=376' },
  { says: '2.4: a stale hit is below zero', given: hit(-0.5), expected: 'breakwater;hit;ttl=-1' },
  { says: '2.4: a lifetime is whole', given: hit(1.9), expected: 'breakwater;hit;ttl=1' },
  {
    says: '2.4: a lifetime without end is a number',
    given: hit(Infinity),
    expected: 'breakwater;hit;ttl=999999999999999',
  },
  {
    says: '2.2: why it was asked further',
    given: fwd('uri-miss'),
    expected: 'breakwater;fwd=uri-miss',
  },
  {
    says: '2.3 2.5 2.6: what became of it',
    given: fwd('miss', { stored: true, collapsed: true, fwdStatus: 200, ttl: 5 }),
    expected: 'breakwater;fwd=miss;fwd-status=200;ttl=5;stored;collapsed',
  },
  {
    says: '2.5: what did not happen is not said',
    given: fwd('stale', { stored: false, collapsed: false }),
    expected: 'breakwater;fwd=stale',
  },
  {
    says: '2.8: a word of detail',
    given: fwd('bypass', { detail: 'set-cookie' }),
    expected: 'breakwater;fwd=bypass;detail=set-cookie',
  },
  {
    says: '2.8: detail with spaces is a text',
    given: fwd('bypass', { detail: 'a "b" \\' }),
    expected: 'breakwater;fwd=bypass;detail="a \\"b\\" \\\\"',
  },
  {
    says: '2.8: detail that no field can have is made plain',
    given: fwd('bypass', { detail: 'é\r\nx' }),
    expected: 'breakwater;fwd=bypass;detail="???x"',
  },
  {
    says: '2: a name with spaces is a text',
    given: cacheStatus('my cache').hit(1),
    expected: '"my cache";hit;ttl=1',
  },
])('RFC 9211, $says', ({ given, expected }) => {
  expect(given).toBe(expected)
})

it('RFC 9211, 2: a name that no field can have is refused', () => {
  expect(() => cacheStatus('a\r\nb')).toThrow('ASCII')
})

it('RFC 9211, 2: each member is a Structured Field that says what was given', () => {
  const detail = fc.string({ unit: 'binary' })
  const name = fc.stringMatching(/^[ -~]*$/)
  fc.assert(
    fc.property(name, detail, fc.double({ noNaN: true }), (cache, text, ttl) => {
      const printed = cacheStatus(cache).fwd('miss', { stored: true, ttl, detail: text })
      const [member] = parseList(printed)
      expect(String(member?.[0])).toBe(cache)
      const parameters = member?.[1]
      expect(String(parameters?.get('detail'))).toBe(text.replace(/[^ -~]/g, '?'))
      expect(parameters?.get('fwd')).toEqual(new Token('miss'))
      expect(parameters?.get('stored')).toBe(true)
    }),
  )
})

it.each([
  { given: undefined, expected: 'b;hit' },
  { given: '', expected: 'b;hit' },
  { given: 'a;fwd=miss', expected: 'a;fwd=miss, b;hit' },
])('RFC 9211, 2: ours stands behind `$given` of caches before us', ({ given, expected }) => {
  expect(appended(given, 'b;hit')).toBe(expected)
})
