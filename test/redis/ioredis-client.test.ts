// What clients a user may bring: how they may be set up, and which are refused, with a sentence.

import { startRedisServer, type RedisServer } from '@breakwater/rig'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { redisStore, type RedisStoreOptions } from '../../src/redis/ioredis.ts'
import { asking, heard, newFrame, newToken, sameBytes, take } from '../../src/testing/store-rig.ts'
import { clientsOf, majors } from '../support/ioredis-majors.ts'
import { openSession, until, type Watched } from '../support/open-session.ts'

/** ioredis's own words for a command that it could not send. */
const unsent = /Stream isn't writeable|Connection is closed/

for (const { major, Redis } of majors) {
  describe(`a client of the user, on ${major}`, () => {
    let server: RedisServer
    const clients = clientsOf(() => server, Redis)
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
      await clients.make().flushall()
      clients.end()
    })
    afterAll(() => server.stop())

    const setups = [
      {},
      { lazyConnect: true },
      { enableOfflineQueue: false },
      { enableAutoPipelining: true },
      { enableAutoPipelining: true, keyPrefix: 'p:{x}:' },
      { stringNumbers: true },
      { keyPrefix: 'p:', db: 3 },
      { protocol: 2 },
      { replyMapping: 'resp3' },
      { autoResubscribe: false, autoResendUnfulfilledCommands: false },
      { maxRetriesPerRequest: 0, commandTimeout: 1_000, socketTimeout: 1_000 },
      { showFriendlyErrorStack: true, connectionName: 'mine' },
      { readOnly: true, replicaReads: true },
    ]
    it.each(setups)('works when it was made with %j', async ({ replicaReads, ...options }) => {
      const client = clients.make(options as object)
      const mine = openOn({ client, replicaReads })
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
    })

    it('T100 a client that cannot send says so, at once when it does not queue', async () => {
      const client = clients.make({ host: '127.0.0.1', port: 1, enableOfflineQueue: false })
      const mine = openOn({ client, bus: false })
      expect(mine.session.ready).toBe(false)
      await expect(mine.session.read('k')).rejects.toThrow(unsent)
      await expect(mine.session.acquire(asking('k', newToken()))).rejects.toThrow(unsent)
      await expect(mine.session.invalidate(['k', 'l'], newToken())).rejects.toThrow(unsent)
      await expect(mine.session.beat(1)).rejects.toThrow(unsent)
    })

    it('tells when the client becomes ready and when it stops to be', async () => {
      const client = clients.make({ lazyConnect: true })
      const mine = openOn({ client, bus: false })
      await mine.reaches('ready')
      client.disconnect(true)
      await mine.reaches('unready')
      await mine.reaches('ready')
      client.disconnect()
      await mine.reaches('unready')
      expect(mine.states).toEqual(['ready', 'unready', 'ready', 'unready'])
      await expect(mine.session.read('k')).rejects.toThrow(unsent)
    })

    it('keeps nothing of a key apart from its two keys in one slot', async () => {
      const mine = openOn({ client: clients.make(), bus: false })
      await take(mine.session, 'any {key}')
      const admin = clients.make()
      expect(await admin.keys('*')).toEqual(['bw:suite:{any %7Bkey%7D}:l'])
    })

    it('is refused with a sentence when it cannot do', async () => {
      const subscriber = clients.make({ protocol: 2 } as object)
      await subscriber.subscribe('any')
      const client = clients.make()
      const refused: [unknown, string][] = [
        [undefined, 'redisStore: expected { client }, got undefined'],
        [{}, 'redisStore.client: expected an ioredis or iovalkey client, got undefined'],
        [{ client: 'redis://localhost' }, 'got "redis://localhost"'],
        [{ client: { status: 'ready' } }, 'expected an ioredis or iovalkey client (new Redis(…))'],
        [{ client: subscriber }, 'in subscriber mode'],
        [{ client: clients.make({ readOnly: true }) }, '`replicaReads: true`'],
        [{ client, bus: client }, 'redisStore.bus: expected a client other than `client`'],
        [{ client, bus: true }, 'redisStore.bus: expected an ioredis or iovalkey client, got true'],
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
}
