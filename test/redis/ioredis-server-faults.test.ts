// What the server may do to us: refuse writes, forget scripts, hold other data under our keys,
// restart, freeze. What needs no write must still be answered; nothing may wedge a key.

import { crc32 } from 'node:zlib'
import { openFrame } from '../../src/core/frame.ts'
import { startRedisServer, type RedisServer } from '@breakwater/rig'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { frameLayout } from '../../src/core/frame.ts'
import { redisStore } from '../../src/redis/ioredis.ts'
import {
  asking,
  heard,
  newFrame,
  newToken,
  put,
  sameBytes,
  take,
  timeOf,
} from '../../src/testing/store-rig.ts'
import { clientsOf, majors, type TestClient } from '../support/ioredis-majors.ts'
import { openSession, sleep, until, type Watched } from '../support/open-session.ts'

for (const { major, Redis } of majors) {
  describe(`a faulty server, on ${major}`, () => {
    let server: RedisServer
    let admin: TestClient
    let client: TestClient
    let mine: Watched
    let other: Watched
    const clients = clientsOf(() => server, Redis)

    beforeAll(async () => {
      server = await startRedisServer()
    })
    beforeEach(async () => {
      admin = clients.make()
      client = clients.make()
      mine = openSession(redisStore({ client }))
      other = openSession(redisStore({ client: clients.make() }))
      await Promise.all([mine.reaches('up'), other.reaches('up'), until(() => mine.session.ready)])
    })
    afterEach(async () => {
      await Promise.all([mine, other].map(({ session }) => session.close()))
      await admin.config('SET', 'maxmemory', '0')
      await admin.replicaof('NO', 'ONE')
      await admin.flushall()
      clients.end()
    })
    afterAll(() => server.stop())

    const outOfMemory = () => admin.config('SET', 'maxmemory', '1')

    it('T096 out of memory: what needs no write is answered, a lease is not', async () => {
      const { session } = mine
      const stamp = newToken()
      await put(session, 'there', newFrame(stamp))
      const holder = await take(session, 'held')
      const failed = await take(session, 'failed')
      await session.fail({ key: 'failed', token: failed, error: '{}', backoffMs: 5_000 })
      await outOfMemory()

      expect(await session.read('there')).toBeDefined()
      expect(await session.acquire(asking('there', newToken()))).toMatchObject({ type: 'value' })
      for (const mode of ['take', 'wait'] as const) {
        const answer = await session.acquire(asking('held', newToken(), { mode }))
        expect(answer).toMatchObject({ type: 'wait', token: holder })
      }
      const waiting = asking('failed', newToken(), { waitedFor: failed })
      expect(await session.acquire(waiting)).toMatchObject({ type: 'failed' })
      expect(await session.acquire(asking('failed', newToken()))).toMatchObject({ type: 'backoff' })
      const refused = { type: 'nolease', why: 'OOM' }
      expect(await session.acquire(asking('free', newToken()))).toEqual(refused)
      expect(await session.acquire(asking('held', newToken(), { mode: 'force' }))).toEqual(refused)
    })

    it('T096 out of memory: a fill rejects, frees the lease and wakes who waits', async () => {
      for (const bytes of [10, 2_000]) {
        const token = await take(mine.session, 'k')
        await other.session.acquire(asking('k', newToken()))
        await outOfMemory()
        const frame = newFrame(token, { bytes })
        const fill = { key: 'k', token, frame, lifeMs: 5_000 }
        await expect(mine.session.publish(fill)).rejects.toThrow('OOM')
        const told = (await heard(other)).at(-1)
        if (bytes === 10)
          expect(told).toMatchObject({ type: 'published', frame: Buffer.from(frame) })
        else expect(told).toEqual({ type: 'released', key: 'k', token, why: 'unstorable' })
        await admin.config('SET', 'maxmemory', '0')
        await take(mine.session, 'k')
        await mine.session.invalidate(['k'], newToken())
      }
    })

    it('T096 out of memory: not modified rejects and keeps the old frame', async () => {
      const stamp = newToken()
      const frame = newFrame(stamp)
      await put(mine.session, 'k', frame)
      const token = await take(mine.session, 'k', { seen: stamp })
      await outOfMemory()
      const head = frame.slice(0, 104)
      const touch = { key: 'k', token, seen: stamp, head, lifeMs: 5_000 }
      await expect(mine.session.touch(touch)).rejects.toThrow('OOM')
      sameBytes(await mine.session.read('k'), frame)
      expect(await mine.session.renew({ key: 'k', token, leaseMs: 5_000 })).toBe('lost')
    })

    it('out of memory: release, renew and fail still end or keep the lease', async () => {
      const { session } = mine
      const token = await take(session, 'k')
      await other.session.acquire(asking('k', newToken()))
      await outOfMemory()
      expect(await session.renew({ key: 'k', token, leaseMs: 5_000 })).toBe('awaited')
      await session.fail({ key: 'k', token, error: '{}', backoffMs: 5_000 })
      expect(await session.renew({ key: 'k', token, leaseMs: 5_000 })).toBe('lost')
      expect((await heard(other)).at(-1)).toMatchObject({ type: 'failed', token })
    })

    it('out of memory: an invalidation and an expiry work, a write changes nothing', async () => {
      const { session } = mine
      const windows = { freshUntil: (await timeOf(session)) + 9_000, staleIfErrorMs: 9_000 }
      for (const key of ['a', 'b', 'c']) await put(session, key, newFrame(newToken(), windows))
      const before = await session.read('c')
      await outOfMemory()
      await session.invalidate(['a'], newToken())
      await session.expire(['b'], newToken())
      expect(await session.read('a')).toBeUndefined()
      const expired = await session.read('b')
      if (expired !== undefined) {
        const at = Buffer.from(expired).readDoubleBE(frameLayout.expiredAtAt)
        expect(at).toBeLessThanOrEqual(await timeOf(session))
        expect(at).toBeGreaterThan(0)
      }
      const stamp = newToken()
      const write = { key: 'c', frame: newFrame(stamp), lifeMs: 9_000, stamp, notAfter: 1e15 }
      await expect(session.write(write)).rejects.toThrow('OOM')
      sameBytes(await session.read('c'), before!)
    })

    it('T094 a master that became a replica: no lease, reads go on, the beat tells', async () => {
      const { session } = mine
      await put(session, 'k', newFrame(newToken()))
      const holder = await take(session, 'held')
      const before = await session.beat(1)
      await admin.replicaof('no-such-host.invalid', '1')
      expect(await session.acquire(asking('free', newToken()))).toEqual({
        type: 'nolease',
        why: 'READONLY',
      })
      expect(await session.acquire(asking('held', newToken()))).toMatchObject({ type: 'wait' })
      expect(await session.read('k')).toBeDefined()
      const frame = newFrame(holder)
      const fill = { key: 'held', token: holder, frame, lifeMs: 5_000 }
      await expect(session.publish(fill)).rejects.toThrow('READONLY')
      await expect(session.invalidate(['k'], newToken())).rejects.toThrow('READONLY')
      await expect(session.expire(['k'], newToken())).rejects.toThrow('READONLY')
      await expect(session.invalidate(['k', 'l'], newToken())).rejects.toThrow('READONLY')
      expect((await session.beat(2)).server).not.toBe(before.server)
      await admin.replicaof('NO', 'ONE')
      await take(session, 'free')
    })

    it('a user who may not run scripts gets no lease', async () => {
      await admin.acl(
        'SETUSER',
        'reader',
        'on',
        '>secret',
        '~*',
        '&*',
        '+@all',
        '-evalsha',
        '-eval',
      )
      const limited = clients.make({ username: 'reader', password: 'secret' })
      const { session } = openSession(redisStore({ client: limited, bus: false }))
      const answer = await session.acquire(asking('k', newToken()))
      expect(answer).toEqual({ type: 'nolease', why: 'NOPERM' })
      await expect(session.invalidate(['k'], newToken())).rejects.toThrow('NOPERM')
      await session.close()
    })

    it('a user who may not subscribe is told, and works without the bus', async () => {
      await admin.acl('SETUSER', 'deaf', 'on', '>secret', '~*', 'resetchannels', '+@all')
      const limited = clients.make({ username: 'deaf', password: 'secret' })
      const deaf = openSession(redisStore({ client: limited }))
      await until(() => deaf.faults.some((fault) => String(fault).includes('NOPERM')))
      expect(deaf.states).not.toContain('up')
      const token = await take(deaf.session, 'k')
      await deaf.session.acquire(asking('k', newToken()))
      const fill = { key: 'k', token, frame: newFrame(token), lifeMs: 5_000 }
      expect(await deaf.session.publish(fill)).toBe('ok')
      await deaf.session.close()
    })

    it('a server that does not say who it is counts as another after a reconnect', async () => {
      await admin.acl('SETUSER', 'blind', 'on', '>secret', '~*', '&*', '+@all', '-info')
      const limited = clients.make({
        username: 'blind',
        password: 'secret',
        enableReadyCheck: false,
      })
      const { session, reaches } = openSession(redisStore({ client: limited, bus: false }))
      await until(() => session.ready)
      const [first, again] = [await session.beat(1), await session.beat(2)]
      expect(again.server).toBe(first.server)
      limited.disconnect(true)
      await reaches('unready')
      await reaches('ready')
      expect((await session.beat(3)).server).not.toBe(first.server)
      await session.close()
    })

    it('T118 data of another type under our keys is a miss, and gives way', async () => {
      const { session } = mine
      const frameKey = 'bw:suite:{k}:v'
      const leaseKey = 'bw:suite:{k}:l'
      const foreign = async () => {
        await admin.del(frameKey, leaseKey)
        await admin.lpush(frameKey, 'a', 'b')
        await admin.hset(leaseKey, 'a', 'b')
      }
      await foreign()
      // No frame, and no silence either: the engine tells of bytes that it cannot read.
      expect(openFrame((await session.read('k'))!, crc32)).toMatchObject({ why: 'foreign' })
      const token = newToken()
      expect(await session.renew({ key: 'k', token, leaseMs: 9_000 })).toBe('lost')
      await session.release({ key: 'k', token, why: 'abort' })
      await session.fail({ key: 'k', token, error: '{}', backoffMs: 1 })
      const frame = newFrame(token)
      const fill = { key: 'k', token, frame, lifeMs: 9_000 }
      expect(await session.publish(fill)).toBe('fenced')
      expect(await session.touch({ ...fill, seen: token, head: frame })).toBe('fenced')
      expect(await session.acquire(asking('k', token))).toEqual({ type: 'lease' })
      expect(await session.touch({ ...fill, seen: token, head: frame })).toBe('gone')
      expect(await session.publish(fill)).toBe('ok')
      sameBytes(await session.read('k'), frame)

      for (const end of ['invalidate', 'expire'] as const) {
        await foreign()
        await session[end](['k'], newToken())
        expect(await admin.exists(frameKey, leaseKey)).toBe(0)
      }
      await foreign()
      await put(session, 'k', frame)
      sameBytes(await session.read('k'), frame)
    })

    it('T118 a foreign string under the lease key gives way', async () => {
      for (const text of ['', 'locked', 'bw1 ', 'bw1 a b c d e f', 'bw2 - 0 - 0 0 ', '\xff\0']) {
        await admin.set('bw:suite:{k}:l', Buffer.from(text, 'latin1'), 'PX', 60_000)
        await take(mine.session, 'k')
      }
    })

    it('T079 a lease without an expiry wedges nothing, and none is ever left behind', async () => {
      const { session } = mine
      const token = await take(session, 'k')
      await admin.persist('bw:suite:{k}:l')
      expect(await session.acquire(asking('k', newToken()))).toEqual({ type: 'lease' })
      expect(await session.renew({ key: 'k', token, leaseMs: 100 })).toBe('lost')
      const failing = await take(session, 'f')
      await session.acquire(asking('f', newToken()))
      await session.fail({ key: 'f', token: failing, error: '{}', backoffMs: 0 })
      await put(session, 'w', newFrame(newToken()))
      const keys = await admin.keys('*')
      expect(keys).toHaveLength(3)
      for (const key of keys) expect(await admin.pttl(key)).toBeGreaterThan(0)
    })

    it('T097 T087 forgotten scripts, and lost leases, cost one more round trip or load', async () => {
      const { session } = mine
      await take(session, 'k')
      await admin.script('FLUSH', 'SYNC')
      const calls = async () => {
        const stats = await admin.info('commandstats')
        return Number(/cmdstat_eval:calls=(\d+)/.exec(stats)?.[1] ?? 0)
      }
      const before = await calls()
      const keys = Array.from({ length: 50 }, (_, n) => `k${n}`)
      await session.invalidate(keys, newToken())
      await session.invalidate(keys, newToken())
      await session.invalidate(['k'], newToken())
      const token = await take(session, 'k')
      await take(session, 'j')
      expect((await calls()) - before).toBe(2)
      await admin.del('bw:suite:{k}:l')
      const fill = { key: 'k', token, frame: newFrame(token), lifeMs: 5_000 }
      expect(await session.publish(fill)).toBe('fenced')
      await take(session, 'k')
    })

    it('T097 T073 a restart: operations work again, the bus tells its gap, the server is new', async () => {
      const before = await mine.session.beat(1)
      await take(mine.session, 'k')
      const bus = mine.states.length
      await server.restart()
      await until(() => mine.states.slice(bus).includes('down'))
      await mine.reaches('up')
      await mine.reaches('ready')
      await take(mine.session, 'k')
      expect((await mine.session.beat(2)).server).not.toBe(before.server)
      await other.reaches('up')
      const id = newToken()
      await other.session.invalidate(['k'], id)
      expect((await heard(mine)).at(-1)).toEqual({ type: 'invalidated', key: 'k', id })
      const states = mine.states.filter((state) => state === 'up' || state === 'down')
      expect(states).toEqual(['up', 'down', 'up'])
    })

    it('a write that lay in a frozen server for too long does not land', async () => {
      const { session } = mine
      const stamp = newToken()
      const notAfter = (await timeOf(session)) + 100
      server.freeze()
      const write = { key: 'k', frame: newFrame(stamp), lifeMs: 5_000, stamp, notAfter }
      const answer = session.write(write)
      await sleep(200)
      server.thaw()
      expect(await answer).toBe('late')
      expect(await session.read('k')).toBeUndefined()
    })

    it('a paused server delays answers and changes none', async () => {
      await admin.client('PAUSE', 200, 'WRITE')
      const token = newToken()
      const asked = mine.session.acquire(asking('k', token))
      expect(await mine.session.read('k')).toBeUndefined()
      expect(await asked).toEqual({ type: 'lease' })
    })
  })
}
