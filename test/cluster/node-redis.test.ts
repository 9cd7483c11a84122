// A cache by node-redis on a cluster that changes under it: what is sent where, which node may be
// lost, and what its client may be set to.

import { startRedisCluster, type ClusterNode, type RedisCluster } from '@breakwater/rig'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { createCache, type Cache, type CacheOptions } from '../../src/index.ts'
import { redisStore } from '../../src/redis/node-redis.ts'
import { newFrame, newToken, put, sameBytes } from '../../src/testing/store-rig.ts'
import { usualFlavours, nodeRedisClients, type TestCluster } from '../support/node-redis-clients.ts'
import { runScript } from '../support/node-redis-script.ts'
import { openSession, sleep, until, type Watched } from '../support/open-session.ts'
import { well } from '../support/well.ts'

describe.each(usualFlavours)('a cluster, $flavour', (flavour) => {
  let rig: RedisCluster
  const clients = nodeRedisClients(flavour)
  const caches: Cache[] = []
  const open: Watched[] = []
  const unhandled: unknown[] = []
  const onUnhandled = (error: unknown): void => void unhandled.push(error)

  const make = (client: TestCluster, options: Partial<CacheOptions> = {}) => {
    const store = redisStore({ client })
    const cache = createCache({ namespace: 'shop', ttl: '60s', store, ...options })
    caches.push(cache)
    return cache
  }
  const session = async (
    client: TestCluster,
    options: { bus?: false; replicaReads?: boolean } = {},
  ) => {
    const watched = openSession(redisStore({ client, ...options }))
    open.push(watched)
    if (options.bus !== false) await watched.reaches('up')
    await until(() => watched.session.ready)
    return watched
  }
  const masterOf = async (key: string) => rig.masterOf(await rig.slotOf(`bw:suite:{${key}}:v`))
  const keysOf = async (node: ClusterNode, count: number) => {
    const keys: string[] = []
    for (let n = 0; keys.length < count; n++) {
      if ((await masterOf(`k${n}`)) === node) keys.push(`k${n}`)
    }
    return keys
  }
  const reads = async (node: ClusterNode) =>
    Number(/total_reads_processed:(\d+)/.exec(String(await node.ask('INFO', 'stats')))![1])
  const calls = async (node: ClusterNode, command: string) => {
    const stats = String(await node.ask('INFO', 'commandstats'))
    return Number(new RegExp(`cmdstat_${command}:calls=(\\d+)`).exec(stats)?.[1] ?? 0)
  }

  /** Within 20 s, what one has stored the other finds there. */
  const shares = async (a: Cache, b: Cache, key: string) => {
    for (let n = 0; n < 100; n++) {
      const stored = await a.set(key, n).then(
        () => true,
        () => false,
      )
      if (stored && (await b.getOrLoad(key, () => -1)) === n) return
      await sleep(200)
    }
    throw new Error(`expected ${key} to be shared, got ${JSON.stringify(a.health())}`)
  }

  beforeAll(async () => {
    process.on('unhandledRejection', onUnhandled)
    rig = await startRedisCluster()
  }, 60_000)
  afterEach(async () => {
    for (const node of rig.nodes) node.thaw()
    await Promise.all(caches.splice(0).map((cache) => cache.close({ timeout: 100 })))
    await Promise.all(open.splice(0).map((one) => one.session.close()))
    clients.end()
    const faults = unhandled.splice(0)
    if (faults.length > 0) throw new Error(`unhandled: ${faults.map(String).join('; ')}`)
  })
  afterAll(async () => {
    process.removeListener('unhandledRejection', onUnhandled)
    await rig.stop()
  })

  it('reads and invalidates many keys in one write to each node', async () => {
    const { session: mine } = await session(await clients.cluster(rig), { bus: false })
    const keys = Array.from({ length: 100 }, (_, n) => `k${n}`)
    const frame = newFrame(newToken())
    // Once before, so that every node knows the script.
    await mine.invalidate(keys, newToken())
    await Promise.all(keys.map((key) => put(mine, key, frame)))
    const masters = await rig.masters()
    const writes = async (run: () => Promise<unknown>) => {
      const before = await Promise.all(masters.map(reads))
      await run()
      const after = await Promise.all(masters.map(reads))
      return Math.max(...after.map((count, n) => count - before[n]!))
    }
    // Asking for the count is a read or two itself, as is what the nodes tell each other.
    const idle = await writes(async () => {})
    const read = await writes(async () => {
      for (const got of await Promise.all(keys.map((key) => mine.read(key)))) sameBytes(got, frame)
    })
    expect(read - idle).toBeLessThanOrEqual(3)
    const told = await writes(() => mine.invalidate(keys, newToken()))
    expect(told - idle).toBeLessThanOrEqual(3)
    expect(await mine.read('k50')).toBeUndefined()
  })

  it('two caches: one load of a cold key, woken by a push; a change is heard', async () => {
    const [a, b] = [make(await clients.cluster(rig)), make(await clients.cluster(rig))]
    await well(a, b)
    for (let n = 0; n < 6; n++) {
      let runs = 0
      const load = async () => {
        await sleep(50)
        return ++runs
      }
      const callers = Array.from({ length: 50 }, (_, at) =>
        (at % 2 === 0 ? a : b).getOrLoad(`cold${n}`, load),
      )
      expect(new Set(await Promise.all(callers))).toEqual(new Set([1]))
      await a.invalidate(`cold${n}`)
      const seen = { value: 1 }
      for (let turn = 0; turn < 100 && seen.value === 1; turn++) {
        seen.value = await b.getOrLoad(`cold${n}`, load)
        await sleep(10)
      }
      expect(seen.value).toBe(2)
    }
  })

  it('T105 a slot that moves: every read is right, in the middle too', async () => {
    const cache = make(await clients.cluster(rig), { memory: false })
    const { session: mine } = await session(await clients.cluster(rig), { bus: false })
    await well(cache)
    const slot = await rig.slotOf('bw:shop:{moving}:v')
    const from = await rig.masterOf(slot)
    const to = (await rig.masters()).find((node) => node !== from)!
    const frame = newFrame(newToken())
    await put(mine, 'moving', frame)
    await cache.set('moving', 'right')
    const move = await rig.startSlotMove(slot, to)
    const check = async () => {
      const got = await Promise.all(
        Array.from({ length: 30 }, () => cache.getOrLoad('moving', () => 'right')),
      )
      expect(new Set(got)).toEqual(new Set(['right']))
      // Frame and lease alone are in two places for a moment: TRYAGAIN is no answer to a read.
      sameBytes(await mine.read('moving'), frame)
      const [again, none] = await Promise.all([mine.read('moving'), mine.read('absent')])
      sameBytes(again, frame)
      expect(none).toBeUndefined()
    }
    await check()
    await move.moveKeys()
    await check()
    await move.finish()
    await check()
    await mine.invalidate(['moving', 'other'], newToken())
    expect(await mine.read('moving')).toBeUndefined()
    await well(cache)
    await cache.set('moving', 'new')
    expect(await cache.getOrLoad('moving', () => 'not this')).toBe('new')
  })

  it('T102 a node that is not there fails its own keys alone', async () => {
    const client = await clients.cluster(rig, { defaults: { disableOfflineQueue: true } })
    const { session: mine } = await session(client, { bus: false })
    const [lost, other] = (await rig.masters()) as [ClusterNode, ClusterNode]
    const [gone, there] = [await keysOf(lost, 2), await keysOf(other, 2)]
    await Promise.all([...gone, ...there].map((key) => put(mine, key, newFrame(newToken()))))
    // Cut off from this client alone: the cluster does not notice.
    const node = client.masters.find(({ port }) => port === lost.port)!
    node.client!.destroy()
    const answers = await Promise.allSettled([...gone, ...there].map((key) => mine.read(key)))
    expect(answers.map(({ status }) => status)).toEqual([
      'rejected',
      'rejected',
      'fulfilled',
      'fulfilled',
    ])
    expect(mine.ready).toBe(true)
    await node.client!.connect()
    expect(await mine.read(gone[0]!)).toBeDefined()
  })

  it('the subscription moves to another node when its own is lost', async () => {
    const mine = await session(await clients.cluster(rig))
    const subscribers = async () => {
      const found: ClusterNode[] = []
      for (const node of await rig.masters()) {
        const list = String(await node.ask('CLIENT', 'LIST', 'TYPE', 'PUBSUB'))
        if (list.includes('id=')) found.push(node)
      }
      return found
    }
    const seen = new Set<ClusterNode>()
    for (let round = 1; round <= 3; round++) {
      const [node, ...more] = await subscribers()
      expect(more).toEqual([])
      seen.add(node!)
      await node!.ask('CLIENT', 'KILL', 'TYPE', 'PUBSUB')
      await until(() => mine.states.filter((state) => state === 'down').length === round)
      await mine.reaches('up')
    }
    expect(seen.size).toBeGreaterThan(1)
    const id = newToken()
    await mine.session.invalidate(['k'], id)
    await until(() => mine.messages.some((one) => one.type === 'invalidated' && one.id === id))
  })

  it('reads from masters alone, or from replicas too where it may', async () => {
    const client = await clients.cluster(rig, { useReplicas: true })
    const masters = await rig.masters()
    const replicas = rig.nodes.filter((node) => !masters.includes(node))
    const keys = Array.from({ length: 60 }, (_, n) => `k${n}`)
    for (const replicaReads of [false, true]) {
      const { session: mine } = await session(client, { bus: false, replicaReads })
      expect(mine.fromReplica).toBe(replicaReads)
      await Promise.all(replicas.map((node) => node.ask('CONFIG', 'RESETSTAT')))
      for (const key of keys) await mine.read(key)
      const asked = await Promise.all(replicas.map((node) => calls(node, 'get')))
      expect(Math.max(...asked) > 0).toBe(replicaReads)
    }
  })

  it('connects nodes when they are needed, if its client does so', async () => {
    const client = await clients.cluster(rig, { minimizeConnections: true })
    const cache = make(client)
    await well(cache)
    for (let n = 0; n < 20; n++) await cache.set(`k${n}`, n)
    const other = make(await clients.cluster(rig))
    await well(other)
    expect(await other.getOrLoad('k7', () => -1)).toBe(7)
  })

  if (flavour.major === 6) {
    it('T103 a key prefix counts for the slot, one with a hash tag too', async () => {
      for (const keyPrefix of ['pre:', '{one}:']) {
        const client = await clients.cluster(rig, { keyPrefix })
        const { session: mine } = await session(client, { bus: false })
        const keys = Array.from({ length: 30 }, (_, n) => `k${n}`)
        const frame = newFrame(newToken())
        await Promise.all(keys.map((key) => put(mine, key, frame)))
        for (const got of await Promise.all(keys.map((key) => mine.read(key)))) {
          sameBytes(got, frame)
        }
        expect(await client.exists('bw:suite:{k7}:v')).toBe(1)
        await mine.invalidate(keys, newToken())
        expect(await client.exists('bw:suite:{k7}:v')).toBe(0)
      }
    })
  }

  it('T091 connections that are made anew: every node answers again', async () => {
    const client = await clients.cluster(rig)
    const mine = await session(client)
    const keys = Array.from({ length: 30 }, (_, n) => `k${n}`)
    mine.session.reconnect('commands')
    expect(mine.session.ready).toBe(false)
    await until(() => client.masters.every((node) => node.client!.isReady))
    expect(mine.session.ready).toBe(true)
    for (const key of keys) await put(mine.session, key, newFrame(newToken()))
    for (let n = 0; n < 3; n++) expect((await mine.session.beat(n)).time).toBeGreaterThan(1e12)
  })

  it('T157 leaves no listener on the client', async () => {
    const client = await clients.cluster(rig)
    const names = () => client.eventNames().map((name) => [name, client.listenerCount(name)])
    const before = names()
    const made = Array.from({ length: 15 }, () => make(client))
    await well(...made)
    expect(Math.max(...names().map(([, count]) => count as number))).toBeLessThanOrEqual(2)
    await Promise.all(made.map((cache) => cache.close()))
    expect(names()).toEqual(before)
  })

  it.each([true, false])(
    'T159 a script whose cache is closed (%s) ends by itself',
    async (close) => {
      const end = await runScript(flavour, {
        create: 'createCluster',
        options: { rootNodes: rig.addresses.map((socket) => ({ socket })) },
        close,
      })
      expect(end).toMatchObject({ code: 0, output: 'done\n' })
      expect(end.lingeredMs).toBeLessThan(5_000)
    },
  )

  // These take a while, and the protocol has no part in them.
  if (!flavour.isUsual) return

  it('a master that is frozen: one deadline, then its successor serves', async () => {
    const [a, b] = [make(await clients.cluster(rig)), make(await clients.cluster(rig))]
    await well(a, b)
    const lost = await rig.masterOf(await rig.slotOf('bw:shop:{k}:v'))
    lost.freeze()
    const from = performance.now()
    expect(await a.getOrLoad('k', () => 'loaded')).toBe('loaded')
    expect(performance.now() - from).toBeLessThan(800)
    await rig.successorOf(lost)
    lost.thaw()
    await rig.settled()
    await well(a, b)
    await shares(a, b, 'k')
  }, 60_000)

  it('a master that is killed: no read fails, and its successor serves its keys', async () => {
    const [a, b] = [make(await clients.cluster(rig)), make(await clients.cluster(rig))]
    await well(a, b)
    const lost = await rig.masterOf(await rig.slotOf('bw:shop:{k}:v'))
    await lost.kill()
    let reading = true
    const reader = (async () => {
      for (let n = 0; reading; n++) {
        expect(await a.getOrLoad(`k${n % 50}`, () => n, { maxAge: 1 })).toBeTypeOf('number')
        await sleep(10)
      }
    })()
    await rig.successorOf(lost)
    try {
      await shares(a, b, 'k')
    } finally {
      reading = false
      await reader
      await lost.restart()
    }
    await rig.settled()
    await well(a, b)
  }, 60_000)

  it('T163 started late, and connected by the cache: L2 is used as soon as it is there', async () => {
    const client = clients.laterCluster(rig)
    await Promise.all(rig.nodes.map((node) => node.kill()))
    const cache = make(client, { connectTimeout: '300ms' })
    expect(await cache.getOrLoad('a', () => 1)).toBe(1)
    expect(cache.health()).toMatchObject({ status: 'degraded', store: 'down' })
    await Promise.all(rig.nodes.map((node) => node.restart()))
    await rig.settled()
    await well(cache)
    await cache.set('late', 5)
    const other = make(await clients.cluster(rig))
    await well(other)
    expect(await other.getOrLoad('late', () => 0)).toBe(5)
  }, 60_000)
})
