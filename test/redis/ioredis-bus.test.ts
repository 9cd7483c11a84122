// The subscriber connection: ours or the user's, its gaps, and what is left of it after close().

import { spawn } from 'node:child_process'
import { startRedisServer, type RedisServer } from '@breakwater/rig'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { redisStore } from '../../src/redis/ioredis.ts'
import { asking, heard, newFrame, newToken, put, take } from '../../src/testing/store-rig.ts'
import { clientsOf, majors, type TestClient } from '../support/ioredis-majors.ts'
import { openSession, sleep, until, type Watched } from '../support/open-session.ts'

for (const { major, from, Redis } of majors) {
  describe(`the bus, on ${major}`, () => {
    let server: RedisServer
    const clients = clientsOf(() => server, Redis)
    const open: Watched[] = []
    const openOn = (store: ReturnType<typeof redisStore>, namespace = 'suite') => {
      const watched = openSession(store, { namespace })
      open.push(watched)
      return watched
    }
    const busStates = ({ states }: Watched) => states.filter((s) => s === 'up' || s === 'down')
    const subscribers = async (admin: TestClient) => {
      const list = String(await admin.client('LIST', 'TYPE', 'PUBSUB'))
      return [...list.matchAll(/^id=(\d+)/gm)].map(([, id]) => id!)
    }

    beforeAll(async () => {
      server = await startRedisServer()
    })
    afterEach(async () => {
      await Promise.all(open.splice(0).map(({ session }) => session.close()))
      await clients.make().flushall()
      clients.end()
    })
    afterAll(() => server.stop())

    it('T073 a killed subscriber comes back, and its gap is told exactly', async () => {
      const admin = clients.make()
      const mine = openOn(redisStore({ client: clients.make() }))
      await mine.reaches('up')
      for (let round = 0; round < 3; round += 1) {
        const gaps = mine.states.filter((state) => state === 'down').length
        for (const id of await subscribers(admin)) await admin.client('KILL', 'ID', id)
        await until(() => mine.states.filter((state) => state === 'down').length === gaps + 1)
        await mine.reaches('up')
        const id = newToken()
        await mine.session.invalidate(['k'], id)
        expect((await heard(mine)).at(-1)).toEqual({ type: 'invalidated', key: 'k', id })
      }
      expect(busStates(mine)).toEqual(['up', 'down', 'up', 'down', 'up', 'down', 'up'])
    })

    it('T093 a server that is not there is a fault that is told, not an exception', async () => {
      const client = clients.make({ host: '127.0.0.1', port: 1 })
      const mine = openOn(redisStore({ client }))
      await until(() => mine.faults.length > 2)
      expect(String(mine.faults[0])).toContain('ECONNREFUSED')
      expect(busStates(mine)).toEqual([])
    })

    it('T160 close() ends our connection at once, twice is fine, and leaves the client', async () => {
      const admin = clients.make()
      const client = clients.make()
      const mine = openOn(redisStore({ client }))
      await mine.reaches('up')
      expect(await subscribers(admin)).toHaveLength(1)
      await Promise.all([mine.session.close(), mine.session.close()])
      await until(() => client.status === 'ready')
      // The server learns of it a moment later.
      for (let n = 0; n < 100 && (await subscribers(admin)).length > 0; n++) await sleep(10)
      expect(await subscribers(admin)).toHaveLength(0)
      expect(await client.ping()).toBe('PONG')
    })

    it('T160 close() does not wait for a server that is frozen', async () => {
      const mine = openOn(redisStore({ client: clients.make() }))
      await mine.reaches('up')
      server.freeze()
      const started = performance.now()
      await mine.session.close()
      server.thaw()
      expect(performance.now() - started).toBeLessThan(1_000)
    })

    it('T160 close() also ends a connection that never came about', async () => {
      const client = clients.make({ host: '127.0.0.1', port: 1 })
      const early = openOn(redisStore({ client }))
      await early.session.close()
      const later = openOn(redisStore({ client }))
      await until(() => later.faults.length > 0)
      await later.session.close()
      const faults = later.faults.length
      await sleep(150)
      expect(later.faults).toHaveLength(faults)
    })

    it('T157 each session has at most one listener per event, and none after close()', async () => {
      const client = clients.make()
      const bus = clients.make()
      await until(() => client.status === 'ready' && bus.status === 'ready')
      const events = ['ready', 'close', 'end', 'error', 'connect', 'messageBuffer', 'message']
      const counts = () => [client, bus].map((one) => events.map((name) => one.listenerCount(name)))
      const before = counts()
      const two = [openOn(redisStore({ client, bus })), openOn(redisStore({ client, bus }))]
      await Promise.all(two.map((one) => one.reaches('up')))
      for (let n = 0; n < 50; n += 1) await take(two[n % 2]!.session, `k${n}`)
      for (const [at, list] of counts().entries()) {
        for (const [event, count] of list.entries()) {
          expect(count - before[at]![event]!).toBeLessThanOrEqual(2)
        }
      }
      await Promise.all(two.map(({ session }) => session.close()))
      expect(counts()).toEqual(before)
    })

    it('T076 two caches on one bus of the user hear their own, and one may leave', async () => {
      const admin = clients.make()
      const bus = clients.make()
      const client = clients.make()
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
      expect(bus.status).toBe('ready')
      await until(() => bus.status === 'ready')
      expect(await admin.pubsub('CHANNELS', 'bw:*')).toEqual([])
    })

    it('T076 a bus of the user survives its reconnect, whatever it does by itself', async () => {
      for (const autoResubscribe of [true, false]) {
        const admin = clients.make()
        const bus = clients.make({ autoResubscribe, lazyConnect: true })
        const mine = openOn(redisStore({ client: clients.make(), bus }))
        await mine.reaches('up')
        for (const id of await subscribers(admin)) await admin.client('KILL', 'ID', id)
        await until(() => mine.states.includes('down'))
        await mine.reaches('up')
        const id = newToken()
        await mine.session.invalidate(['k'], id)
        expect((await heard(mine)).at(-1)).toEqual({ type: 'invalidated', key: 'k', id })
        expect(busStates(mine)).toEqual(['up', 'down', 'up'])
        await mine.session.close()
      }
    })

    it('T076 garbage on our channel is ignored', async () => {
      const admin = clients.make()
      const mine = openOn(redisStore({ client: clients.make() }))
      await mine.reaches('up')
      for (const text of [
        '',
        'b',
        'b1',
        'b1p',
        'b1pxxx',
        'b2i',
        'hello world',
        'b1z\0\0\0',
        '\xff',
      ]) {
        await admin.publish('bw:suite:0:', Buffer.from(text, 'latin1'))
      }
      expect(await heard(mine)).toEqual([])
      expect(mine.faults).toEqual([])
    })

    it('without a bus nothing is subscribed, and everything else works', async () => {
      const admin = clients.make()
      const mine = openOn(redisStore({ client: clients.make(), bus: false }))
      const hearing = openOn(redisStore({ client: clients.make() }))
      await hearing.reaches('up')
      expect(mine.session.hasBus).toBe(false)
      expect(await subscribers(admin)).toHaveLength(1)
      await take(mine.session, 'k')
      expect((await mine.session.beat(1)).time).toBeGreaterThan(1e12)
      const id = newToken()
      await mine.session.invalidate(['k'], id)
      expect(await heard(hearing)).toEqual([{ type: 'invalidated', key: 'k', id }])
    })

    it('T067 key prefixes and databases share no entry, no lease and no message', async () => {
      const places = [
        {},
        { keyPrefix: 'a:' },
        { keyPrefix: '{b}' },
        { db: 1 },
        { keyPrefix: 'a:', db: 1 },
      ]
      const sessions = places.map((place) => openOn(redisStore({ client: clients.make(place) })))
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
      const admin = clients.make()
      expect((await admin.keys('*')).sort()).toEqual(
        ['', 'a:', '{b}']
          .flatMap((prefix, n) => [`${prefix}bw:suite:{k}:l`, `${prefix}bw:suite:{k${n}}:v`])
          .sort(),
      )
    })

    it('T159 an open session does not keep the process alive by our connection', async () => {
      // The user's client is unref'd here, so that what is left could only be ours.
      const program = `
        import { Redis } from '${from}'
        import { redisStore } from 'breakwater/ioredis'
        for (const connection of ${JSON.stringify([server.connection, { host: '127.0.0.1', port: 1 }])}) {
          const client = new Redis({ ...connection, lazyConnect: true })
          const clock = { now: () => performance.now(), random: () => 0.5,
            after(ms, run) { const t = setTimeout(run, ms); t.unref(); return () => clearTimeout(t) } }
          const nothing = () => {}
          redisStore({ client: Object.create(client, { status: { value: 'end' } }) }).open({
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
}
