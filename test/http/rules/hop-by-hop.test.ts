import { expect, it } from 'vitest'
import { storedFields } from '../../../src/http/hop-by-hop.ts'

it.each([
  {
    says: '3.1: all fields are stored, those that nobody knows too',
    given: { etag: '"a"', 'x-new': '1' },
    expected: { etag: '"a"', 'x-new': '1' },
  },
  {
    says: '3.1: several lines stay several',
    given: { link: ['</a>', '</b>'] },
    expected: { link: ['</a>', '</b>'] },
  },
  {
    says: '3.1: fields of the connection are not stored',
    given: {
      connection: 'close',
      'keep-alive': 'timeout=5',
      te: 'x',
      upgrade: 'h2c',
      'transfer-encoding': 'chunked',
      a: '1',
    },
    expected: { a: '1' },
  },
  {
    says: '3.1: fields that `Connection` names are not stored',
    given: { connection: 'X-One, x-two', 'x-one': '1', 'x-two': '2', a: '1' },
    expected: { a: '1' },
  },
  {
    says: '3.1: `Connection` may be of several lines',
    given: { connection: ['x-one', 'x-two'], 'x-one': '1', 'x-two': '2' },
    expected: {},
  },
  {
    says: '3.1: fields for proxies are not stored',
    given: {
      'proxy-authenticate': 'Basic',
      'proxy-authentication-info': 'x',
      'proxy-authorization': 'x',
      'proxy-connection': 'close',
      'proxy-status': 'x',
    },
    expected: {},
  },
  {
    says: 'T138: `Content-Length` is reckoned from the body',
    given: { 'content-length': '5', a: '1' },
    expected: { a: '1' },
  },
  { says: '5.1: `Age` is reckoned anew', given: { age: '5', a: '1' }, expected: { a: '1' } },
  {
    says: '3.1: trailers are not kept, nor announced',
    given: { trailer: 'x', a: '1' },
    expected: { a: '1' },
  },
  {
    says: 'T138: `Connection` cannot take away what the body needs',
    given: {
      connection: 'content-encoding, vary, content-type',
      'content-encoding': 'br',
      vary: 'accept-encoding',
      'content-type': 'text/html',
    },
    expected: { 'content-encoding': 'br', vary: 'accept-encoding', 'content-type': 'text/html' },
  },
  {
    says: 'RFC 9211, 2: `Cache-Status` of caches before us is kept',
    given: { 'cache-status': 'a;hit' },
    expected: { 'cache-status': 'a;hit' },
  },
  { says: '3.1: what is not there is not stored', given: { a: undefined }, expected: {} },
])('RFC 9111, $says', ({ given, expected }) => {
  expect(storedFields(given)).toEqual(expected)
})

it('fields that the engine names are left out', () => {
  expect(storedFields({ a: '1', b: '2' }, new Set(['b']))).toEqual({ a: '1' })
})

it('a field named as a part of objects changes no object', () => {
  const fields = JSON.parse('{"__proto__":["x"],"a":"1"}')
  const stored = storedFields(fields)
  expect(Object.getPrototypeOf(stored)).toBe(Object.prototype)
  expect(stored).toEqual({ a: '1' })
})
