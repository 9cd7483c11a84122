// Cluster clients of the user's: how they may be set up, and which are refused, with a sentence.

import { startRedisCluster, type RedisCluster } from '@breakwater/rig'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { redisStore, type RedisStoreOptions } from '../../src/redis/ioredis.ts'
import { asking, heard, newFrame, newToken, sameBytes, take } from '../../src/testing/store-rig.ts'
import { spreadKeys } from '../support/cluster-keys.ts'
import { clusterClientsOf, majors } from '../support/ioredis-majors.ts'
import { openSession, sleep, until, type Watched } from '../support/open-session.ts'

let cluster: RedisCluster
beforeAll(async () => {
  cluster = await startRedisCluster({ password: 'secret' })
})
afterAll(() => cluster.stop())

const setups: Record<string, Record<string, unknown>> = {
  'as it comes': {},
  'that connects when asked': { lazyConnect: true },
  'T163 without offline queue': { enableOfflineQueue: false },
  'T163 without offline queue of its nodes': { redisOptions: { enableOfflineQueue: false } },
  'T103 with auto-pipelining': { enableAutoPipelining: true },
  'T103 with auto-pipelining and a prefix': { enableAutoPipelining: true, keyPrefix: 'p:' },
  'T103 with auto-pipelining and one slot': { enableAutoPipelining: true, keyPrefix: 'p:{x}:' },
  'with auto-pipelining of its nodes': { redisOptions: { enableAutoPipelining: true } },
  'with a prefix': { keyPrefix: 'p:' },
  'with a prefix of its nodes': { redisOptions: { keyPrefix: 'p:' } },
  'with a prefix and another of its nodes': { keyPrefix: 'p:', redisOptions: { keyPrefix: 'q:' } },
  'with half a hash tag as prefix': { keyPrefix: 'p{' },
  'with numbers as text': { redisOptions: { stringNumbers: true } },
  'of RESP2': { redisOptions: { protocol: 2 } },
  'of RESP3': { redisOptions: { protocol: 3, replyMapping: 'resp3' } },
  'with a database that a cluster has not': { redisOptions: { db: 3 } },
  'that resends nothing': { redisOptions: { autoResendUnfulfilledCommands: false } },
  'that retries never': { clusterRetryStrategy: null, redisOptions: { maxRetriesPerRequest: 0 } },
  'with a command timeout': { redisOptions: { commandTimeout: 1_000, socketTimeout: 1_000 } },
  'that refreshes its slots all the time': { slotsRefreshInterval: 50 },
  'that follows one redirection': { maxRedirections: 1 },
  'with friendly errors': { redisOptions: { showFriendlyErrorStack: true } },
  'with sharded subscribers': { shardedSubscribers: true },
  'that looks up no name': {
    dnsLookup: (address: string, done: (error: null, address: string) => void) => {
      done(null, address)
    },
  },
  'that reads from replicas': { scaleReads: 'slave', replicaReads: true },
  'that reads from all': { scaleReads: 'all', enableAutoPipelining: true, replicaReads: true },
}

describe.each(majors)('a cluster client of the user, on $major', ({ Cluster }) => {
  const clients = clusterClientsOf(() => cluster, Cluster)
  const open: Watched[] = []
  const openOn = (options: RedisStoreOptions) => {
    const watched = openSession(redisStore(options))
    open.push(watched)
    return watched
  }

  afterEach(async () => {
    await Promise.all(open.splice(0).map(({ session }) => session.close()))
    clients.end()
    for (const master of await cluster.masters()) await master.ask('FLUSHALL')
  })

  it.each(Object.entries(setups))('%s works', async (_, { replicaReads, ...options }) => {
    const { redisOptions, ...rest } = options
    const client = clients.make({
      ...rest,
      redisOptions: { password: 'secret', ...(redisOptions as object) },
    })
    const mine = openOn({ client, replicaReads: replicaReads === true })
    const { session } = mine
    await until(() => session.ready)
    await mine.reaches('up')
    await heard(mine)
    mine.messages.length = 0
    // A replica may not have it yet.
    const readAll = async (keys: readonly string[], have: (frame: unknown) => boolean) => {
      for (let turn = 0; ; turn += 1) {
        const frames = await Promise.all(keys.map((key) => session.read(key)))
        if (frames.every(have) || turn === 500) return frames
        await sleep(10)
      }
    }

    const prefix = typeof rest['keyPrefix'] === 'string' ? rest['keyPrefix'] : ''
    const keys = await spreadKeys(cluster, 9, prefix.includes('{x}') ? {} : { keyPrefix: prefix })
    const tokens = await Promise.all(keys.map((key) => take(session, key)))
    const waiting = await Promise.all(keys.map((key) => session.acquire(asking(key, newToken()))))
    expect(waiting.map((answer) => answer.type === 'wait' && answer.token)).toEqual(tokens)
    const frames = tokens.map((token) => newFrame(token, { bytes: 200 }))
    for (const [n, key] of keys.entries()) {
      const fill = { key, token: tokens[n]!, frame: frames[n]!, lifeMs: 60_000 }
      expect(await session.publish(fill)).toBe('ok')
    }
    expect(await heard(mine)).toHaveLength(keys.length)
    const read = await readAll(keys, (frame) => frame !== undefined)
    for (const [n, frame] of read.entries()) sameBytes(frame, frames[n]!)
    const token = await take(session, keys[0]!, { seen: tokens[0]! })
    await session.fail({ key: keys[0]!, token, error: '{}', backoffMs: 60_000 })
    const held = await session.acquire(asking(keys[0]!, newToken(), { seen: tokens[0]! }))
    expect(held).toMatchObject({ type: 'backoff', error: '{}' })
    const id = newToken()
    await session.invalidate(keys, id)
    const told = (await heard(mine)).filter((message) => message.type === 'invalidated')
    expect(told).toHaveLength(keys.length)
    expect(await readAll(keys, (frame) => frame === undefined)).toEqual(keys.map(() => undefined))
    const { time, server } = await session.beat(1)
    expect(Math.abs(time - Date.now())).toBeLessThan(1_000)
    expect(server.split(',')).toHaveLength(3)
    expect(mine.faults).toEqual([])
  })

  it('T100 a client that cannot send says so, at once when it does not queue', async () => {
    const client = new Cluster([{ host: '127.0.0.1', port: 1 }], { enableOfflineQueue: false })
    client.on('error', () => {})
    const { session } = openOn({ client, bus: false })
    expect(session.ready).toBe(false)
    const unsent = /Cluster isn't ready|Connection is closed|no master that is known/
    await expect(session.read('k')).rejects.toThrow(unsent)
    const both = await Promise.allSettled([session.read('k'), session.read('l')])
    expect(both.map(({ status }) => status)).toEqual(['rejected', 'rejected'])
    await expect(session.acquire(asking('k', newToken()))).rejects.toThrow(unsent)
    await expect(session.invalidate(['k', 'l'], newToken())).rejects.toThrow(unsent)
    await expect(session.beat(1)).rejects.toThrow(unsent)
    client.disconnect()
  })

  it('tells when the client becomes ready and when it stops to be', async () => {
    const client = clients.make({ lazyConnect: true, redisOptions: { password: 'secret' } })
    const mine = openOn({ client, bus: false })
    await mine.reaches('ready')
    client.disconnect(true)
    await mine.reaches('unready')
    await mine.reaches('ready')
    client.disconnect()
    await mine.reaches('unready')
    expect(mine.states).toEqual(['ready', 'unready', 'ready', 'unready'])
  })

  it('is refused with a sentence when it cannot do', () => {
    const make = (options: object = {}) => clients.make({ lazyConnect: true, ...options })
    const refused: [object, string][] = [
      [{ client: make({ scaleReads: 'slave' }) }, '`scaleReads` is not "master"'],
      [{ client: make({ scaleReads: 'all' }) }, '`replicaReads: true`'],
      [{ client: make({ scaleReads: () => undefined }) }, '`scaleReads` is not "master"'],
      [{ client: make({ maxRedirections: 0 }) }, '`maxRedirections` of at least 1, got 0'],
      [{ client: make({ keyPrefix: '{}' }) }, '`keyPrefix` does not begin its braces with {}'],
      [{ client: make({ redisOptions: { keyPrefix: 'a{}' } }) }, 'got "a{}"'],
      [{ client: make(), bus: make() }, 'redisStore.bus: expected a client of one server'],
    ]
    for (const [options, text] of refused) {
      expect(() => redisStore(options as RedisStoreOptions)).toThrow(
        expect.objectContaining({
          code: 'INVALID_OPTION',
          message: expect.stringContaining(text),
        }),
      )
    }
  })
})
