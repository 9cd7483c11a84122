// The layout of keys and the numbers in the scripts: what other versions of us rely on.

import { readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { startRedisServer, type RedisServer } from '@breakwater/rig'
import { Redis } from 'ioredis'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { frameLayout as at } from '../../src/core/frame.ts'
import { createLayout } from '../../src/redis/layout.ts'
import { nastyKeys } from '../../src/testing/store-rig.ts'

const place = { namespace: 'shop', id: '12345678901234', db: 0, keyPrefix: '' }
const layout = createLayout(place)

let server: RedisServer
let client: Redis
beforeAll(async () => {
  server = await startRedisServer({
    args: ['--cluster-enabled', 'yes', '--cluster-config-file', 'no'],
  })
  client = new Redis(server.connection as { host: string; port: number })
})
afterAll(async () => {
  client.disconnect()
  await server.stop()
})

it('T108 both keys of an entry are in one slot, whatever the key, and keys spread', async () => {
  const slots = new Set<unknown>()
  for (const key of nastyKeys) {
    const frame = await client.cluster('KEYSLOT', layout.frameKey(key))
    expect(await client.cluster('KEYSLOT', layout.leaseKey(key))).toBe(frame)
    slots.add(frame)
  }
  expect(slots.size).toBeGreaterThan(nastyKeys.length - 3)
})

it('T129 no two keys share a name in Redis', () => {
  const names = nastyKeys.flatMap((key) => [layout.frameKey(key), layout.leaseKey(key)])
  expect(new Set(names).size).toBe(nastyKeys.length * 2)
})

it('a key is readable in Redis', () => {
  expect(layout.frameKey('products:1 2')).toBe('bw:shop:{products:1 2}:v')
  expect(layout.leaseKey('a{b}')).toBe('bw:shop:{a%7Bb%7D}:l')
  expect(layout.frameKey('')).toBe('bw:shop:{%}:v')
})

it('no two places share a channel', () => {
  const channels = [
    place,
    { ...place, namespace: 'shop2' },
    { ...place, db: 1 },
    { ...place, keyPrefix: '1' },
    { ...place, keyPrefix: ':' },
    { ...place, keyPrefix: '@12345678901234:' },
  ].map((each) => createLayout(each))
  const names = channels.flatMap(({ channel, ownChannel }) => [channel, ownChannel])
  expect(new Set(names).size).toBe(names.length)
})

it('the numbers in the scripts are those of the frame', () => {
  // Lua counts from 1 in strings, Redis from 0 in GETRANGE and SETRANGE.
  const stampEnd = at.stampAt + at.stampLength
  const allowed: Record<string, readonly string[]> = {
    'acquire.lua': [
      `0, ${stampEnd - 1})`,
      `#top == ${stampEnd}`,
      `(top, ${at.stampAt + 1}, ${stampEnd})`,
    ],
    'publish.lua': [
      `0, ${stampEnd - 1})`,
      `(top, ${at.stampAt + 1}, ${stampEnd})`,
      `(top, ${at.versionAt + 1})`,
    ],
    'touch.lua': [
      `0, ${stampEnd - 1})`,
      `#top == ${stampEnd}`,
      `(top, ${at.stampAt + 1}, ${stampEnd})`,
      `unpack('>I4', old, ${at.headLengthAt + 1})`,
    ],
    'write.lua': [`0, ${at.versionAt})`, `(top, ${at.versionAt + 1})`],
    'parts/apart.lua': [
      `0, ${at.headLengthAt + 4 - 1})`,
      `unpack('>I4', top, ${at.headLengthAt + 1})`,
      // From the byte of the compression on, whose second bit is 64, to the end of the note's name.
      `at + ${at.body.compressionAt}, at + ${at.body.payloadAt + at.stampLength - 1})`,
      `#body < ${at.body.payloadAt + at.stampLength - at.body.compressionAt}`,
      `(body, ${at.body.payloadAt}, ${at.body.payloadAt + at.stampLength - at.body.compressionAt})`,
    ],
    'expire.lua': [
      `0, ${at.asOfAt + 8 - 1})`,
      `#top == ${at.asOfAt + 8}`,
      `unpack('>d', top, ${at.expiredAtAt + 1})`,
      `unpack('>ddd', top, ${at.freshUntilAt + 1})`,
      `'SETRANGE', KEYS[1], ${at.expiredAtAt},`,
    ],
  }
  expect(at.staleWhileRevalidateAt - at.freshUntilAt).toBe(8)
  expect(at.staleIfErrorAt - at.staleWhileRevalidateAt).toBe(8)
  const folder = join(import.meta.dirname, '../../src/redis/lua')
  // Those of guards know of no frame.
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter(
    (file) => file.endsWith('.lua') && !file.startsWith('guard-'),
  )
  for (const file of files) {
    const source = readFileSync(join(folder, file), 'utf8')
    for (const text of allowed[file] ?? []) expect(source).toContain(text)
    if (allowed[file] === undefined) expect(source).not.toMatch(/GETRANGE|unpack/)
    for (const [, version] of source.matchAll(/'bw\\(\d+)'/g)) {
      expect(Number(version)).toBe(at.version)
    }
    for (const [, version] of source.matchAll(/string\.byte\(top, 3\) or 0\) > (\d+)/g)) {
      expect(Number(version)).toBe(at.version)
    }
  }
  expect(String.fromCharCode(at.magic >> 8, at.magic & 0xff)).toBe('bw')
})
