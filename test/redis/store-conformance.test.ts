// The store's conformance suite on every implementation and every client that we claim.

import { startRedisServer, type RedisServer } from '@breakwater/rig'
import { afterAll, afterEach, beforeAll, describe, it } from 'vitest'
import { memoryStore } from '../../src/memory/memory-store.ts'
import type { Clock, Store } from '../../src/ports.ts'
import { redisStore } from '../../src/redis/ioredis.ts'
import { storeCases, type StoreRig } from '../../src/testing/store-suite.ts'
import { clientsOf, majors } from '../support/ioredis-majors.ts'
import { openSession, realClock, sleep, type Watched } from '../support/open-session.ts'

const open: Watched[] = []

function rigOn(makeStore: () => Store, pass: StoreRig['pass'], clock?: Clock): StoreRig {
  return {
    pass,
    async open(namespace = 'suite') {
      const watched = openSession(makeStore(), { namespace, clock: clock ?? realClock })
      open.push(watched)
      await watched.reaches('up')
      return watched
    },
  }
}

afterEach(async () => {
  await Promise.all(open.splice(0).map(({ session }) => session.close()))
})

describe('memoryStore', () => {
  it.each(storeCases)('$name', async ({ run }) => {
    let now = 1_000_000_000
    const clock: Clock = { now: () => now, random: () => 0, after: () => () => {} }
    const store = memoryStore()
    const pass = async (ms: number) => {
      now += ms
    }
    await run(rigOn(() => store, pass, clock))
  })
})

for (const { major, Redis } of majors) {
  describe(`redisStore on ${major}`, () => {
    let server: RedisServer
    const clients = clientsOf(() => server, Redis)
    beforeAll(async () => {
      server = await startRedisServer()
    })
    afterEach(async () => {
      await clients.make().flushall()
      clients.end()
    })
    afterAll(() => server.stop())

    const cases = storeCases.map(({ name, run }) => ({ name, run }))
    it.each(cases)('$name', async ({ run }) => {
      await run(rigOn(() => redisStore({ client: clients.make() }), sleep))
    })
  })
}
