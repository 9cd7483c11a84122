// The subscriber connection: ours or the user's, its gaps, and what is left of it after close().

import { spawn } from 'node:child_process'
import { startRedisServer, type RedisServer } from '@breakwater/rig'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { redisStore } from '../../src/redis/node-redis.ts'
import { asking, heard, newFrame, newToken, put, take } from '../../src/testing/store-rig.ts'
import { flavours, nodeRedisClients } from '../support/node-redis-clients.ts'
import { openSession, sleep, until, type Watched } from '../support/open-session.ts'

const nowhere = { connection: { host: '127.0.0.1', port: 1 } }

describe.each([...flavours])('the bus, on $flavour', (flavour) => {
  let server: RedisServer
  const clients = nodeRedisClients(flavour)
  const open: Watched[] = []
  const openOn = (store: ReturnType<typeof redisStore>, namespace = 'suite') => {
    const watched = openSession(store, { namespace })
    open.push(watched)
    return watched
  }
  const busStates = ({ states }: Watched) => states.filter((s) => s === 'up' || s === 'down')
  const subscribers = async () => {
    const list = String(await server.ask('CLIENT', 'LIST', 'TYPE', 'PUBSUB'))
    return [...list.matchAll(/^id=(\d+)/gm)].map(([, id]) => id!)
  }
  const killSubscribers = async () => {
    for (const id of await subscribers()) await server.ask('CLIENT', 'KILL', 'ID', id)
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

  it('T073 a killed subscriber comes back, and its gap is told exactly', async () => {
    const mine = openOn(redisStore({ client: clients.make(server) }))
    await mine.reaches('up')
    for (let round = 1; round <= 3; round += 1) {
      await killSubscribers()
      await until(() => mine.states.filter((state) => state === 'down').length === round)
      await mine.reaches('up')
      const id = newToken()
      await mine.session.invalidate(['k'], id)
      expect((await heard(mine)).at(-1)).toEqual({ type: 'invalidated', key: 'k', id })
    }
    expect(busStates(mine)).toEqual(['up', 'down', 'up', 'down', 'up', 'down', 'up'])
  })

  it('a subscription that is made anew is told as a gap, and hears again', async () => {
    const mine = openOn(redisStore({ client: clients.make(server) }))
    await mine.reaches('up')
    mine.session.reconnect('bus')
    expect(busStates(mine)).toEqual(['up', 'down'])
    await mine.reaches('up')
    const id = newToken()
    await mine.session.invalidate(['k'], id)
    expect((await heard(mine)).at(-1)).toEqual({ type: 'invalidated', key: 'k', id })
    await until(() => mine.states.at(-1) === 'up')
    expect(await subscribers()).toHaveLength(1)
  })

  it('T093 a server that is not there is a fault that is told, not an exception', async () => {
    const mine = openOn(redisStore({ client: clients.make(nowhere) }))
    await until(() => mine.faults.length > 2)
    expect(String(mine.faults[0])).toContain('ECONNREFUSED')
    expect(busStates(mine)).toEqual([])
  })

  it('T160 close() ends our connection at once, twice is fine, and leaves the client', async () => {
    const client = clients.make(server)
    const mine = openOn(redisStore({ client }))
    await mine.reaches('up')
    expect(await subscribers()).toHaveLength(1)
    await Promise.all([mine.session.close(), mine.session.close()])
    // The server learns of it a moment later.
    for (let n = 0; n < 100 && (await subscribers()).length > 0; n++) await sleep(10)
    expect(await subscribers()).toHaveLength(0)
    expect(await client.ping()).toBe('PONG')
  })

  it('T160 close() in the middle of connecting leaves no connection behind', async () => {
    const client = clients.make(server)
    await until(() => client.isReady)
    const microtask = () => Promise.resolve()
    const turn = () => new Promise<void>((resolve) => setImmediate(resolve))
    for (const step of [microtask, turn]) {
      for (let steps = 0; steps < 12; steps += 1) {
        const mine = openOn(redisStore({ client }))
        for (let n = 0; n < steps; n++) await step()
        await mine.session.close()
      }
    }
    const others = async () => {
      const list = String(await server.ask('CLIENT', 'LIST'))
      return list
        .split('\n')
        .filter((line) => line.startsWith('id=') && !line.includes('client|list'))
    }
    for (let n = 0; n < 100 && (await others()).length > 1; n++) await sleep(20)
    expect(await others()).toHaveLength(1)
  })

  it('T160 close() does not wait for a server that is frozen', async () => {
    const mine = openOn(redisStore({ client: clients.make(server) }))
    await mine.reaches('up')
    server.freeze()
    const started = performance.now()
    await mine.session.close()
    server.thaw()
    expect(performance.now() - started).toBeLessThan(1_000)
  })

  it('T160 close() also ends a connection that never came about', async () => {
    const client = clients.make(nowhere)
    await openOn(redisStore({ client })).session.close()
    const later = openOn(redisStore({ client }))
    await until(() => later.faults.length > 0)
    await later.session.close()
    const faults = later.faults.length
    await sleep(150)
    expect(later.faults).toHaveLength(faults)
  })

  it('T157 all sessions together have one listener per event, and none after close()', async () => {
    const client = clients.make(server)
    const bus = clients.make(server)
    await until(() => client.isReady && bus.isReady)
    const events = ['ready', 'end', 'error', 'connect', 'reconnecting', 'terminated']
    const counts = () => [client, bus].map((one) => events.map((name) => one.listenerCount(name)))
    const before = counts()
    const two = [openOn(redisStore({ client, bus })), openOn(redisStore({ client, bus }))]
    await Promise.all(two.map((one) => one.reaches('up')))
    for (let n = 0; n < 50; n += 1) await take(two[n % 2]!.session, `k${n}`)
    for (const [at, list] of counts().entries()) {
      for (const [event, count] of list.entries()) {
        expect(count - before[at]![event]!).toBeLessThanOrEqual(1)
      }
    }
    await Promise.all(two.map(({ session }) => session.close()))
    expect(counts()).toEqual(before)
  })

  it('a client without listeners of its own is not cut off from those that come later', async () => {
    const client = flavour.redis.createClient({ socket: { ...server.connection } } as object)
    await client.connect()
    for (let n = 0; n < 2; n++) {
      const mine = openOn(redisStore({ client: client as never, bus: false }))
      await mine.session.close()
    }
    const seen: string[] = []
    for (const name of ['ready', 'end'] as const) client.on(name, () => seen.push(name))
    client.destroy()
    await client.connect()
    client.destroy()
    expect(seen).toEqual(['end', 'ready', 'end'])
  })

  it('T076 two caches on one bus of the user hear their own, and one may leave', async () => {
    const bus = clients.make(server)
    const client = clients.make(server)
    const one = openOn(redisStore({ client, bus }), 'one')
    const two = openOn(redisStore({ client, bus }), 'two')
    const twin = openOn(redisStore({ client, bus }), 'two')
    await Promise.all([one, two, twin].map((each) => each.reaches('up')))
    await one.session.invalidate(['k'], newToken())
    expect(await heard(one)).toHaveLength(1)
    expect(await heard(two)).toEqual([])
    await twin.session.close()
    const id = newToken()
    await two.session.invalidate(['k'], id)
    expect(await heard(two)).toEqual([{ type: 'invalidated', key: 'k', id }])
    await one.session.close()
    await two.session.close()
    expect(bus.isReady).toBe(true)
    const channels = async () => (await server.ask('PUBSUB', 'CHANNELS', 'bw:*')) as string[]
    for (let n = 0; n < 100 && (await channels()).length > 0; n++) await sleep(10)
    expect(await channels()).toEqual([])
  })

  it('T076 a bus of the user survives its reconnect, connected by its user or by us', async () => {
    for (const bus of [clients.make(server), clients.later(server)]) {
      const mine = openOn(redisStore({ client: clients.make(server), bus }))
      await mine.reaches('up')
      await killSubscribers()
      await until(() => mine.states.includes('down'))
      await mine.reaches('up')
      const id = newToken()
      await mine.session.invalidate(['k'], id)
      expect((await heard(mine)).at(-1)).toEqual({ type: 'invalidated', key: 'k', id })
      mine.session.reconnect('bus')
      await mine.reaches('up')
      await mine.session.invalidate(['k'], id)
      expect((await heard(mine)).at(-1)).toEqual({ type: 'invalidated', key: 'k', id })
      expect(busStates(mine)).toEqual(['up', 'down', 'up', 'down', 'up'])
      await mine.session.close()
    }
  })

  it("T076 the user's own subscriptions on that bus go on", async () => {
    const bus = clients.make(server)
    const told: string[] = []
    await bus.subscribe('news', (message) => told.push(message))
    const mine = openOn(redisStore({ client: clients.make(server), bus }))
    await mine.reaches('up')
    mine.session.reconnect('bus')
    await mine.reaches('up')
    await mine.session.close()
    await server.ask('PUBLISH', 'news', 'hello')
    await until(() => told.length > 0)
    expect(told).toEqual(['hello'])
  })

  it('T076 garbage on our channel is ignored', async () => {
    const mine = openOn(redisStore({ client: clients.make(server) }))
    await mine.reaches('up')
    for (const text of ['', 'b', 'b1', 'b1p', 'b1pxxx', 'b2i', 'hello world', 'b1z', 'é']) {
      await server.ask('PUBLISH', 'bw:suite:0:', text)
    }
    expect(await heard(mine)).toEqual([])
    expect(mine.faults).toEqual([])
  })

  it('without a bus nothing is subscribed, and everything else works', async () => {
    const mine = openOn(redisStore({ client: clients.make(server), bus: false }))
    const hearing = openOn(redisStore({ client: clients.make(server) }))
    await hearing.reaches('up')
    expect(mine.session.hasBus).toBe(false)
    expect(await subscribers()).toHaveLength(1)
    await take(mine.session, 'k')
    expect((await mine.session.beat(1)).time).toBeGreaterThan(1e12)
    const id = newToken()
    await mine.session.invalidate(['k'], id)
    expect(await heard(hearing)).toEqual([{ type: 'invalidated', key: 'k', id }])
  })

  it('T067 key prefixes and databases share no entry, no lease and no message', async () => {
    const prefixes = flavour.major === 5 ? [] : ['a:', '{b}', Buffer.from('é')]
    const places = [
      {},
      { database: 1 },
      ...prefixes.map((keyPrefix) => ({ keyPrefix })),
      ...prefixes.map((keyPrefix) => ({ keyPrefix, database: 1 })),
    ]
    const sessions = places.map((place) =>
      openOn(redisStore({ client: clients.make(server, place) })),
    )
    await Promise.all(sessions.map((one) => one.reaches('up')))
    for (const { session } of sessions) await take(session, 'k')
    for (const [n, { session }] of sessions.entries()) {
      await session.acquire(asking('k', newToken()))
      await put(session, `k${n}`, newFrame(newToken()))
    }
    for (const [n, one] of sessions.entries()) {
      for (const m of sessions.keys()) {
        expect((await one.session.read(`k${m}`)) !== undefined).toBe(n === m)
      }
      expect(await heard(one)).toMatchObject([{ type: 'written', key: `k${n}` }])
    }
    const expected = ['', ...prefixes].flatMap((prefix) => {
      const n = places.findIndex(
        (one) => ((one as { keyPrefix?: unknown }).keyPrefix ?? '') === prefix,
      )
      return [`${prefix}bw:suite:{k}:l`, `${prefix}bw:suite:{k${n}}:v`]
    })
    expect([...((await server.ask('KEYS', '*')) as string[])].sort()).toEqual(expected.sort())
  })

  it('T159 an open session does not keep the process alive by our connection', async () => {
    const from = flavour.major === 5 ? 'redis5' : 'redis'
    // The user's client is never connected, so that what is left could only be ours.
    const program = `
      import { createClient } from '${from}'
      import { redisStore } from 'breakwater/node-redis'
      for (const socket of ${JSON.stringify([server.connection, nowhere.connection])}) {
        const client = createClient({ socket, RESP: ${flavour.RESP} })
        const clock = { now: () => performance.now(), random: () => 0.5,
          after(ms, run) { const t = setTimeout(run, ms); t.unref(); return () => clearTimeout(t) } }
        const nothing = () => {}
        redisStore({ client: Object.create(client, { isOpen: { value: true } }) }).open({
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
      sleep(5_000).then(() => 'still alive'),
    ])
    child.kill('SIGKILL')
    expect({ code, output }).toEqual({ code: 0, output: 'up\n' })
  })
})
