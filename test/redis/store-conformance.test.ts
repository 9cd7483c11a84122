// The store's conformance suite on every implementation and every client that we claim.

import {
  startRedisCluster,
  startRedisServer,
  type RedisCluster,
  type RedisServer,
} from '@breakwater/rig'
import { afterAll, afterEach, beforeAll, describe, it } from 'vitest'
import { memoryStore } from '../../src/memory/memory-store.ts'
import type { BusMessage, Clock, Store } from '../../src/ports.ts'
import { redisStore } from '../../src/redis/ioredis.ts'
import { heard } from '../../src/testing/store-rig.ts'
import { storeCases, type StoreRig } from '../../src/testing/store-suite.ts'
import { clientsOf, clusterClientsOf, majors } from '../support/ioredis-majors.ts'
import { openSession, realClock, sleep, until, type Watched } from '../support/open-session.ts'

const open: Watched[] = []
const cases = storeCases.map(({ name, run }) => ({ name, run }))

function rigOn(
  makeStore: () => Store,
  pass: StoreRig['pass'],
  clock: Clock = realClock,
): Pick<StoreRig, 'pass'> & { open(namespace?: string): Promise<Watched> } {
  return {
    pass,
    async open(namespace = 'suite') {
      const watched = openSession(makeStore(), { namespace, clock })
      open.push(watched)
      await watched.reaches('up')
      return watched
    },
  }
}

/**
 * A cluster tells of the keys of one call in no order, since each of its servers tells of its own:
 * here it is the call's.
 */
function clusterRigOn(makeStore: () => Store): StoreRig {
  const rig = rigOn(makeStore, sleep)
  const calls = new Map<string, readonly string[]>()
  return {
    ...rig,
    async open(namespace) {
      const { session, messages } = await rig.open(namespace)
      await until(() => session.ready)
      // What an earlier case has published may still be on its way from server to server.
      await heard({ session, messages })
      messages.length = 0
      for (const name of ['invalidate', 'expire'] as const) {
        const run = session[name].bind(session)
        session[name] = (keys, id) => {
          if (keys.length > 0) calls.set(id, keys)
          return run(keys, id)
        }
      }
      return {
        session,
        get messages() {
          return inOrder(messages, calls)
        },
      }
    },
  }
}

function inOrder(messages: readonly BusMessage[], calls: ReadonlyMap<string, readonly string[]>) {
  const ordered: BusMessage[] = []
  for (const id of new Set(messages.map((one) => ('id' in one ? one.id : one)))) {
    const some = messages.filter((one) => ('id' in one ? one.id : one) === id)
    const keys = typeof id === 'string' ? calls.get(id) : undefined
    const place = (one: BusMessage) => ('key' in one ? (keys?.indexOf(one.key) ?? 0) : 0)
    ordered.push(...some.toSorted((one, two) => place(one) - place(two)))
  }
  return ordered
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

describe('redisStore', () => {
  let server: RedisServer
  beforeAll(async () => {
    server = await startRedisServer()
  })
  afterEach(() => server.ask('FLUSHALL'))
  afterAll(() => server.stop())

  describe.each(majors)('on $major, single', ({ Redis }) => {
    const clients = clientsOf(() => server, Redis)
    afterEach(() => clients.end())

    it.each(cases)('$name', async ({ run }) => {
      await run(rigOn(() => redisStore({ client: clients.make() }), sleep))
    })
  })
})

describe('redisStore', () => {
  let cluster: RedisCluster
  beforeAll(async () => {
    cluster = await startRedisCluster({ replicas: 0 })
  })
  afterEach(async () => {
    await Promise.all(cluster.nodes.map((node) => node.ask('FLUSHALL')))
  })
  afterAll(() => cluster.stop())

  describe.each(majors)('on $major, cluster', ({ Cluster }) => {
    const clients = clusterClientsOf(() => cluster, Cluster)
    afterEach(() => clients.end())

    it.each(cases)('$name', async ({ run }) => {
      await run(clusterRigOn(() => redisStore({ client: clients.make() })))
    })
  })
})
