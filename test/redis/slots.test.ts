// The slot that we compute is the one that the server computes, whatever the key.

import { startRedisServer, type RedisServer } from '@breakwater/rig'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { createLayout } from '../../src/redis/layout.ts'
import { hidesHashTag, slotOf } from '../../src/redis/slots.ts'
import { nastyKeys } from '../../src/testing/store-rig.ts'

let server: RedisServer
beforeAll(async () => {
  server = await startRedisServer({
    args: ['--cluster-enabled', 'yes', '--cluster-config-file', 'no'],
  })
})
afterAll(() => server.stop())

const prefixes = ['', 'p:', 'pre{x}:', '{', '}', '{}', 'a{}b{c}', 'a{b', '}{', 'ä{ö']

it('T103 is the slot of the final key, of text and of bytes', async () => {
  for (const prefix of prefixes) {
    const { frameKey } = createLayout({ namespace: 'shop', id: '', db: 0, keyPrefix: prefix })
    for (const key of [...nastyKeys, ...nastyKeys.map(frameKey)]) {
      const final = `${prefix}${key}`
      const slot = await server.ask('CLUSTER', 'KEYSLOT', final)
      expect({ final, slot: slotOf(final) }).toEqual({ final, slot })
      expect(slotOf(Buffer.from(final))).toBe(slot)
    }
  }
})

it('T108 a prefix is found out that would part the two keys of an entry', () => {
  for (const keyPrefix of prefixes) {
    const layout = createLayout({ namespace: 'shop', id: '', db: 0, keyPrefix })
    const apart = nastyKeys.filter((key) => {
      const keys = [layout.frameKey(key), layout.leaseKey(key)]
      return new Set(keys.map((name) => slotOf(keyPrefix + name))).size > 1
    })
    expect({ keyPrefix, apart: apart.length > 0 }).toEqual({
      keyPrefix,
      apart: hidesHashTag(keyPrefix),
    })
  }
})
