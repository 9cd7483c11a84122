// URLs of servers as people write them, to what is connected to; and never a password in what is shown.

import { expect, it } from 'vitest'
import { parseAddress } from '../../cli/src/connect/address.ts'
import { asJson } from '../../cli/src/print/json.ts'
import { bytes, duration } from '../../cli/src/print/units.ts'

it.each([
  ['localhost', { type: 'single', node: { host: 'localhost', port: 6379 }, db: 0, tls: false }],
  ['10.0.0.1:7000', { type: 'single', node: { host: '10.0.0.1', port: 7000 } }],
  ['redis://h/3', { type: 'single', node: { host: 'h', port: 6379 }, db: 3 }],
  ['redis://:secret@h', { username: undefined, password: 'secret' }],
  ['rediss://app:s%40c%3Aret@h:1', { tls: true, username: 'app', password: 's@c:ret' }],
  [
    'redis://app:s@cret@h',
    { username: 'app', password: 's@cret', node: { host: 'h', port: 6379 } },
  ],
  ['redis://app:100%@h', { password: '100%' }],
  ['redis://[::1]:6380/1', { node: { host: '::1', port: 6380 }, db: 1 }],
  ['/run/redis.sock', { type: 'socket', path: '/run/redis.sock' }],
  ['unix:///run/redis.sock', { type: 'socket', path: '/run/redis.sock' }],
  [
    'redis+cluster://:secret@h1:7000,h2',
    {
      type: 'cluster',
      password: 'secret',
      nodes: [
        { host: 'h1', port: 7000 },
        { host: 'h2', port: 6379 },
      ],
    },
  ],
  [
    'rediss+sentinel://app:secret@h1,h2:26380/main/2?sentinelUsername=s&sentinelPassword=secret2',
    {
      type: 'sentinel',
      tls: true,
      name: 'main',
      db: 2,
      username: 'app',
      sentinelUsername: 's',
      sentinelPassword: 'secret2',
      nodes: [
        { host: 'h1', port: 26_379 },
        { host: 'h2', port: 26_380 },
      ],
    },
  ],
])('%s', (url, expected) => {
  const address = parseAddress(url)
  expect(address).toMatchObject(expected)
  expect(address.shown).not.toMatch(/secret|s@c|100%/)
})

it.each([
  'http://h',
  'redis://h1,h2',
  'redis://h:port',
  'redis://h:70000',
  'redis://h/db',
  'redis+sentinel://h1,h2',
  'redis+cluster://h/1',
])('%s is refused with a sentence', (url) => {
  expect(() => parseAddress(url)).toThrow(/^--redis: expected .*, got .*; as in redis:/)
})

it('durations and sizes are as a person reads them', () => {
  expect([0.26, 45.2, 999, 1_500, 59_940, 61_000, 3_600_000, 90_000_000].map(duration)).toEqual([
    '0.3 ms',
    '45 ms',
    '999 ms',
    '1.5 s',
    '59.9 s',
    '1 min 1 s',
    '1 h',
    '1 d 1 h',
  ])
  expect([1, 1_023, 1_536, 5 * 1024 ** 3].map(bytes)).toEqual([
    '1 byte',
    '1023 bytes',
    '1.5 KiB',
    '5 GiB',
  ])
})

it('what JSON has no form for is told as what it is', () => {
  const circle: Record<string, unknown> = { nan: NaN, bytes: Buffer.from('a') }
  circle['self'] = circle
  expect(JSON.parse(asJson({ circle, list: [undefined, new Set([1n])] }))).toEqual({
    circle: { nan: { $number: 'NaN' }, bytes: { $bytes: 'YQ==' }, self: { $circular: true } },
    list: [{ $undefined: true }, { $set: [{ $bigint: '1' }] }],
  })
})
