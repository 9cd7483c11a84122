// The subscriber connection in a cluster: one per session, on any of the servers, and on another one
// as soon as it is lost.

import { spawn } from 'node:child_process'
import { startRedisCluster, type ClusterNode, type RedisCluster } from '@breakwater/rig'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { redisStore, type RedisStoreOptions } from '../../src/redis/ioredis.ts'
import { heard, newToken } from '../../src/testing/store-rig.ts'
import { spreadKeys } from '../support/cluster-keys.ts'
import { clusterClientsOf, twoMajors } from '../support/ioredis-majors.ts'
import { openSession, sleep, until, type Watched } from '../support/open-session.ts'

let cluster: RedisCluster
beforeAll(async () => {
  cluster = await startRedisCluster()
})
afterAll(() => cluster.stop())

/** Node and id of every connection that subscribes, where they can be asked. */
async function subscribers(): Promise<{ node: ClusterNode; id: string }[]> {
  const lists = await Promise.allSettled(
    cluster.nodes.map(async (node) => {
      const list = String(await node.ask('CLIENT', 'LIST', 'TYPE', 'PUBSUB'))
      return [...list.matchAll(/^id=(\d+)/gm)].map(([, id]) => ({ node, id: id! }))
    }),
  )
  return lists.flatMap((list) => (list.status === 'fulfilled' ? list.value : []))
}

async function eventually<T>(look: () => Promise<T>, expected: T): Promise<void> {
  await expect.poll(look, { timeout: 60_000, interval: 50 }).toEqual(expected)
}

describe.each(twoMajors)('the bus of a cluster, on $major', { timeout: 120_000 }, (major) => {
  const { from, Cluster, Redis } = major
  const clients = clusterClientsOf(() => cluster, Cluster)
  const open: Watched[] = []
  const openOn = async (options: Partial<RedisStoreOptions> = {}) => {
    const watched = openSession(redisStore({ client: clients.make(), ...options }))
    open.push(watched)
    if (options.bus !== false) await watched.reaches('up')
    await until(() => watched.session.ready)
    return watched
  }
  const busStates = ({ states }: Watched) => states.filter((s) => s === 'up' || s === 'down')
  const hearsAll = async (mine: Watched, sender: Watched) => {
    const id = newToken()
    const keys = await spreadKeys(cluster, 6)
    await sender.session.invalidate(keys, id)
    const told = () => mine.messages.filter((one) => one.type === 'invalidated' && one.id === id)
    await until(
      () => told().length === keys.length,
      () => `${keys.length} messages, got ${told().length}`,
    )
  }

  afterEach(async () => {
    await Promise.all(open.splice(0).map(({ session }) => session.close()))
    clients.end()
    await eventually(subscribers, [])
  })

  it('is one connection, and hears what is said on every server, by others and by itself', async () => {
    const [mine, other] = [await openOn(), await openOn()]
    expect(await subscribers()).toHaveLength(2)
    await heard(mine)
    await hearsAll(mine, other)
    await hearsAll(mine, mine)
    expect(mine.faults).toEqual([])
    expect(busStates(mine)).toEqual(['up'])
  })

  it('T073 a killed connection is replaced on another server, and its gap is told exactly', async () => {
    const [mine, other] = [await openOn(), await openOn({ bus: false })]
    for (let round = 1; round <= 3; round += 1) {
      const [present] = await subscribers()
      await present!.node.ask('CLIENT', 'KILL', 'ID', present!.id)
      await until(() => busStates(mine).length === 2 * round + 1)
      const [next] = await subscribers()
      expect(next!.node).not.toBe(present!.node)
      await hearsAll(mine, other)
    }
    expect(busStates(mine)).toEqual(['up', 'down', 'up', 'down', 'up', 'down', 'up'])
  })

  it('T073 its server dies: another one is taken, and what is said on all is heard', async () => {
    const [mine, other] = [await openOn(), await openOn({ bus: false })]
    const [{ node } = { node: cluster.nodes[0]! }] = await subscribers()
    await node.kill()
    await until(() => busStates(mine).length === 3)
    await cluster.successorOf(node)
    await cluster.settled()
    await hearsAll(mine, other)
    expect(busStates(mine)).toEqual(['up', 'down', 'up'])
    await node.restart()
    await cluster.settled()
  })

  it('a frozen server is left as soon as it is known for silent', async () => {
    const [mine, other] = [await openOn(), await openOn({ bus: false })]
    const [{ node } = { node: cluster.nodes[0]! }] = await subscribers()
    node.freeze()
    try {
      mine.session.reconnect('bus')
      await until(() => busStates(mine).length === 3)
      expect((await subscribers()).map((one) => one.node)).not.toContain(node)
      await cluster.successorOf(node)
    } finally {
      node.thaw()
    }
    await cluster.settled()
    await hearsAll(mine, other)
  })

  it('T160 close() ends it at once, also while it is looking for a server', async () => {
    const mine = await openOn()
    expect(await subscribers()).toHaveLength(1)
    await Promise.all([mine.session.close(), mine.session.close()])
    await eventually(subscribers, [])
    const client = new Cluster([{ host: '127.0.0.1', port: 1 }], {})
    client.on('error', () => {})
    const early = openSession(redisStore({ client }))
    await early.session.close()
    const later = openSession(redisStore({ client }))
    await sleep(200)
    await later.session.close()
    client.disconnect()
    expect(busStates(later)).toEqual([])
  })

  it('a client of one server, of the user, does as well, and is left alone', async () => {
    const [node] = cluster.nodes
    const bus = new Redis({ ...node!.connection, lazyConnect: true })
    bus.on('error', () => {})
    const [mine, other] = [await openOn({ bus }), await openOn({ bus: false })]
    await hearsAll(mine, other)
    await mine.session.close()
    expect(bus.status).toBe('ready')
    bus.disconnect()
  })

  it('T157 each session has at most one listener per event, and none after close()', async () => {
    const client = clients.make()
    await until(() => client.status === 'ready')
    const counts = () => client.eventNames().map((name) => [name, client.listenerCount(name)])
    const before = counts()
    const two = [await openOn({ client }), await openOn({ client })]
    await hearsAll(two[0]!, two[1]!)
    for (const [, count] of counts()) expect(count).toBeLessThanOrEqual(2)
    await Promise.all(two.map(({ session }) => session.close()))
    expect(counts()).toEqual(before)
  })

  it('T159 an open session does not keep the process alive by our connection', async () => {
    // The user's client is one that knows its servers and holds no connection.
    const program = `
      import { Cluster, Redis } from '${from}'
      import { redisStore } from 'breakwater/ioredis'
      for (const node of ${JSON.stringify([cluster.addresses[0], { host: '127.0.0.1', port: 1 }])}) {
        const client = Object.create(new Cluster([node], { lazyConnect: true }), {
          status: { value: 'end' },
          nodes: { value: () => [new Redis({ ...node, lazyConnect: true })] },
        })
        const clock = { now: () => performance.now(), random: () => 0.5,
          after(ms, run) { const t = setTimeout(run, ms); t.unref(); return () => clearTimeout(t) } }
        const nothing = () => {}
        redisStore({ client }).open({
          namespace: 'exit', id: '12345678901234', clock, onMessage: nothing,
          onBus: (state) => console.log(state), onReady: nothing, onFault: nothing })
      }
      setTimeout(nothing => nothing, 300)
    `
    const child = spawn(process.execPath, ['--input-type=module', '-e', program], {
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    let output = ''
    child.stdout.on('data', (chunk) => (output += chunk))
    child.stderr.on('data', (chunk) => (output += chunk))
    const code = await Promise.race([
      new Promise((resolve) => child.once('exit', resolve)),
      sleep(20_000).then(() => 'still alive'),
    ])
    child.kill('SIGKILL')
    expect({ code, output }).toEqual({ code: 0, output: 'up\n' })
  })
})
