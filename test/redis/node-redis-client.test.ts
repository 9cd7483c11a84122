// What clients a user may bring: how they may be set up, and which are refused, with a sentence.

import { startRedisServer, type RedisServer } from '@breakwater/rig'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { redisStore, type RedisStoreOptions } from '../../src/redis/node-redis.ts'
import {
  asking,
  heard,
  newFrame,
  newToken,
  put,
  sameBytes,
  take,
} from '../../src/testing/store-rig.ts'
import { flavours, nodeRedisClients } from '../support/node-redis-clients.ts'
import { openSession, sleep, until, type Watched } from '../support/open-session.ts'

/** node-redis's own words for a command that it could not send. */
const unsent = /The client is (offline|closed)/
const nowhere = { connection: { host: '127.0.0.1', port: 1 } }

describe.each([...flavours])('a client of the user, $flavour', (flavour) => {
  let server: RedisServer
  const clients = nodeRedisClients(flavour)
  const open: Watched[] = []
  const openOn = (options: RedisStoreOptions) => {
    const watched = openSession(redisStore(options))
    open.push(watched)
    return watched
  }

  beforeAll(async () => {
    server = await startRedisServer()
  })
  afterEach(async () => {
    await Promise.all(open.splice(0).map(({ session }) => session.close()))
    clients.end()
    await server.ask('FLUSHALL')
  })
  afterAll(() => server.stop())

  const setups: Record<string, object> = {
    'as it comes': {},
    'without an offline queue': { disableOfflineQueue: true },
    'with a short queue': { commandsQueueMaxLength: 100 },
    'on database 3, with a name': { database: 3, name: 'mine' },
    'with pings and a socket timeout': { pingInterval: 20, socket: { socketTimeout: 1_000 } },
    'with a command timeout': { commandOptions: { timeout: 1_000 } },
    'with replies of other types': { commandOptions: { typeMapping: { 36: String, 58: String } } },
    'with commands that go first': { commandOptions: { asap: true } },
    'with a retry every 50 ms': { socket: { reconnectStrategy: 50 } },
    'that retries never': { socket: { reconnectStrategy: false } },
    ...(flavour.RESP === 3 && { 'with a client-side cache': { clientSideCache: { ttl: 0 } } }),
    ...(flavour.RESP === 3 && { 'that emits invalidations': { emitInvalidate: true } }),
    ...(flavour.major === 6 && { 'with a key prefix': { keyPrefix: 'p:{x}:' } }),
    ...(flavour.major === 6 && { 'with a prefix of bytes': { keyPrefix: Buffer.from([0xff]) } }),
  }
  it.each(Object.entries(setups))('%s works', async (_name, options) => {
    const client = clients.make(server, options)
    const mine = openOn({ client })
    await until(() => mine.session.ready)
    await mine.reaches('up')
    const token = await take(mine.session, 'k')
    const waiting = await mine.session.acquire(asking('k', newToken()))
    expect(waiting).toMatchObject({ type: 'wait', token })
    expect((waiting as { ms: number }).ms).toBeGreaterThan(0)
    const frame = newFrame(token, { bytes: 200 })
    const fill = { key: 'k', token, frame, lifeMs: 5_000 }
    expect(await mine.session.publish(fill)).toBe('ok')
    sameBytes(await mine.session.read('k'), frame)
    const both = await Promise.all([mine.session.read('k'), mine.session.read('none')])
    sameBytes(both[0], frame)
    expect(both[1]).toBeUndefined()
    const [published] = await heard(mine)
    sameBytes(published?.type === 'published' ? published.frame : undefined, frame)
    const next = await take(mine.session, 'k', { seen: token })
    await mine.session.fail({ key: 'k', token: next, error: '{}', backoffMs: 500 })
    const held = await mine.session.acquire(asking('k', newToken(), { seen: token }))
    expect(held).toMatchObject({ type: 'backoff', error: '{}' })
    await mine.session.invalidate(['k', 'l', 'm'], newToken())
    expect(await heard(mine)).toHaveLength(4)
    const { time, server: name } = await mine.session.beat(1)
    expect(Math.abs(time - Date.now())).toBeLessThan(1_000)
    expect(name).toMatch(/^[0-9a-f]{40} master$/)
    expect(mine.faults).toEqual([])
  })

  it('may read from a replica when it is allowed to, and says so', () => {
    const client = clients.make(server, { readonly: true })
    expect(() => redisStore({ client })).toThrow('`replicaReads: true`')
    const mine = openOn({ client, replicaReads: true, bus: false })
    expect(mine.session.fromReplica).toBe(true)
  })

  if (flavour.RESP === 3) {
    it('a client-side cache never answers for the store, however old its news', async () => {
      const client = clients.make(server, { clientSideCache: { ttl: 0 } })
      const mine = openOn({ client, bus: false })
      await until(() => mine.session.ready)
      const frames = [newFrame(newToken()), newFrame(newToken())]
      await put(mine.session, 'k', frames[0]!)
      // Now it is in the client's own cache, under the key that we read.
      expect(await client.get('bw:suite:{k}:v')).not.toBeNull()
      const other = openOn({ client: clients.make(server), bus: false })
      await until(() => other.session.ready)
      await put(other.session, 'k', frames[1]!)
      sameBytes(await mine.session.read('k'), frames[1]!)
    })
  }

  it('T100 a client that cannot send says so, at once when it does not queue', async () => {
    const client = clients.make(nowhere, { disableOfflineQueue: true })
    const { session } = openOn({ client, bus: false })
    expect(session.ready).toBe(false)
    await expect(session.read('k')).rejects.toThrow(unsent)
    await expect(session.acquire(asking('k', newToken()))).rejects.toThrow(unsent)
    await expect(session.invalidate(['k', 'l'], newToken())).rejects.toThrow(unsent)
    await expect(session.beat(1)).rejects.toThrow(unsent)
  })

  it('tells when the client becomes ready and when it stops to be', async () => {
    const client = clients.later(server)
    const mine = openOn({ client, bus: false })
    await mine.reaches('ready')
    await server.ask('CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes')
    await until(() => mine.states.includes('unready'))
    await mine.reaches('ready')
    client.destroy()
    await mine.reaches('unready')
    expect(mine.states).toEqual(['ready', 'unready', 'ready', 'unready'])
    await expect(mine.session.read('k')).rejects.toThrow(unsent)
  })

  it('may be connected by its user in the same turn', async () => {
    const client = clients.later(server)
    const mine = openOn({ client, bus: false })
    await client.connect()
    await mine.reaches('ready')
    expect(mine.faults).toEqual([])
  })

  it('is told of as a fault when it cannot be connected, and is not tried again against its will', async () => {
    const client = clients.later(nowhere, { socket: { reconnectStrategy: false } })
    const mine = openOn({ client, bus: false })
    await until(() => mine.faults.length > 0)
    expect(String(mine.faults[0])).toContain('ECONNREFUSED')
    await sleep(200)
    expect(mine.faults).toHaveLength(1)
  })

  it('stays closed when its user has closed it before', async () => {
    const client = clients.later(server)
    await client.connect()
    client.destroy()
    const mine = openOn({ client, bus: false })
    await sleep(50)
    expect([client.isOpen, mine.session.ready]).toEqual([false, false])
    await expect(mine.session.read('k')).rejects.toThrow(unsent)
  })

  it('T091 a connection that is made anew keeps its subscriptions and its listeners', async () => {
    const client = clients.make(server)
    const mine = openOn({ client, bus: false })
    await mine.reaches('ready')
    const { socketEpoch } = client
    mine.session.reconnect('commands')
    await mine.reaches('ready')
    expect(client.socketEpoch).toBe(socketEpoch + 1)
    expect(mine.states).toEqual(['ready', 'unready', 'ready'])
    await take(mine.session, 'k')
    // Not while it is not connected: it is about to be, or its user has ended it.
    client.destroy()
    mine.session.reconnect('commands')
    await sleep(50)
    expect(client.isOpen).toBe(false)
  })

  it('keeps nothing of a key apart from its two keys in one slot', async () => {
    const mine = openOn({ client: clients.make(server), bus: false })
    await take(mine.session, 'any {key}')
    expect(await server.ask('KEYS', '*')).toEqual(['bw:suite:{any %7Bkey%7D}:l'])
  })

  it('is refused with a sentence when it cannot do', async () => {
    const { redis } = flavour
    const subscriber = clients.later(server, { RESP: 2 })
    await subscriber.connect()
    await subscriber.subscribe('any', () => {})
    const client = clients.make(server)
    const cluster = redis.createCluster({ rootNodes: [{ url: server.url }] })
    const sentinel = redis.createSentinel({
      name: 'main',
      sentinelRootNodes: [{ host: '127.0.0.1', port: 1 }],
    })
    const refused: [unknown, string][] = [
      [undefined, 'redisStore: expected { client }, got undefined'],
      [{}, 'redisStore.client: expected a node-redis client, got undefined'],
      [{ client: 'redis://localhost' }, 'got "redis://localhost"'],
      [{ client: { isOpen: true } }, 'expected a client of node-redis 5 or 6 (createClient(…))'],
      [{ client: client.legacy() }, 'got an object without its methods'],
      [{ client: redis.createClientPool({ url: server.url }) }, 'got a pool'],
      [{ client: subscriber }, 'got one that is subscribed'],
      [{ client, bus: client }, 'redisStore.bus: expected a client other than `client`'],
      [{ client, bus: true }, 'redisStore.bus: expected a node-redis client, got true'],
      [{ client, bus: cluster }, 'got a cluster client, which does not tell'],
      [{ client, bus: sentinel }, 'got a sentinel client, which does not tell'],
      [{ client, replicaReads: 1 }, 'redisStore.replicaReads: expected a boolean, got 1'],
      [{ client, subscriber: client }, 'redisStore.subscriber'],
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
