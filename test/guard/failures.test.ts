// A shared guard when Redis is gone, frozen, forgetful: nobody waits long, nobody is refused what
// exists, and what was added arrives.

import { startRedisServer, type RedisServer } from '@breakwater/rig'
import { Redis } from 'ioredis'
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import { endsByItself } from '../support/guard-process.ts'
import { sleep, until } from '../support/open-session.ts'
import { freshName, quickGuard, type QuickOptions } from '../support/quick-guard.ts'
import { timed } from '../support/well.ts'
import { ids, isReady, mayExist, refusedOf } from './guard-suite.ts'

let server: RedisServer
beforeAll(async () => {
  server = await startRedisServer()
})
afterAll(() => server.stop())

const ends: (() => unknown)[] = []
afterEach(async () => {
  await Promise.all(ends.splice(0).map((end) => end()))
})

function open(options: Partial<QuickOptions<string>> = {}, ofClient: object = {}) {
  const client = new Redis({ ...server.connection, maxRetriesPerRequest: null, ...ofClient })
  client.on('error', () => {})
  const guard = quickGuard<string>({ client, ...options })
  ends.push(async () => {
    await guard.close()
    client.disconnect()
  })
  return guard
}

const shardOf = async (name: string) =>
  ((await server.ask('KEYS', `bw-guard:{${name}:*:0}`)) as string[])[0]!

describe('a frozen Redis', () => {
  it('costs one timeout and then nothing, and refuses nobody', async () => {
    const guard = open({ timeout: 80, pace: { silenceMs: 2_000 } })
    await guard.rebuild(ids(0, 10))
    await isReady(guard)
    expect(await guard.ask('nothing')).toBe(false)
    server.freeze()
    try {
      const first = await timed(() => guard.ask('nothing'))
      expect(first.value).toBe(true)
      expect(first.ms).toBeGreaterThan(60)
      expect(first.ms).toBeLessThan(600)
      expect(guard.know('nothing')).toBe(true)
      const second = await timed(() => Promise.all(ids(0, 100).map((id) => guard.ask(id))))
      expect(second.ms).toBeLessThan(60)
    } finally {
      server.thaw()
    }
    await until(() => guard.know('nothing') === undefined)
    expect(await guard.ask('nothing')).toBe(false)
  })

  it('rejects what is added, lets it through here, and gets it when it is back', async () => {
    const name = freshName()
    const [guard, other] = [open({ name, pace: { writeMs: 200 } }), open({ name })]
    await guard.rebuild(ids(0, 10))
    await isReady(other)
    server.freeze()
    await expect(guard.add('id-new').finally(() => server.thaw())).rejects.toMatchObject({
      code: 'STORE_UNAVAILABLE',
    })
    expect(guard.know('id-new')).toBe(true)
    let arrived = false
    for (let turn = 0; turn < 300 && !arrived; turn += 1) {
      await sleep(10)
      arrived = (await refusedOf(other, ['id-new'])).length === 0
    }
    expect(arrived).toBe(true)
  })
})

describe('a filter that is lost', () => {
  it('refuses nobody, is not made by additions, and says so', async () => {
    const name = freshName()
    const guard = open({ name })
    await guard.rebuild(ids(0, 10))
    await isReady(guard)
    await server.ask('FLUSHALL')
    expect(await refusedOf(guard, ids(0, 50))).toEqual([])
    await guard.addMany(ids(20, 30))
    await guard.add('id-31')
    expect(await refusedOf(guard, ids(0, 50))).toEqual([])
    expect(guard.info().state).toBe('lost')
    expect(await server.ask('KEYS', `bw-guard:{${name}*`)).toEqual([])
    await guard.rebuild(ids(0, 10))
    expect((await refusedOf(guard, ids(100, 150))).length).toBeGreaterThan(40)
  })

  it('is not taken for a new one by a process that has never seen it, if anything is left', async () => {
    const name = freshName()
    await open({ name }).rebuild(ids(0, 10))
    await server.ask('DEL', `bw-guard:{${name}}`)
    const late = open({ name })
    await late.addMany(ids(20, 30))
    expect(await refusedOf(late, ids(0, 50))).toEqual([])
  })

  it('is noticed by its end as well: a shard that was cut off refuses nobody', async () => {
    const name = freshName()
    const guard = open({ name })
    await guard.rebuild(ids(0, 10))
    const key = await shardOf(name)
    const length = Number(await server.ask('STRLEN', key))
    await server.ask(
      'EVAL',
      `local s = redis.call('GETRANGE', KEYS[1], 0, ARGV[1])
      return redis.call('SET', KEYS[1], s)`,
      1,
      key,
      length - 6,
    )
    expect(await refusedOf(guard, ids(0, 100))).toEqual([])
    expect(guard.info().state).toBe('lost')
  })

  it('is no error where another type or another text lies in its place', async () => {
    const name = freshName()
    const guard = open({ name })
    await guard.rebuild(ids(0, 10))
    const key = await shardOf(name)
    await server.ask('DEL', key)
    await server.ask('LPUSH', key, 'x')
    expect(await refusedOf(guard, ids(0, 100))).toEqual([])
    await guard.add('id-500')
    expect(await server.ask('TYPE', key)).toBe('list')
  })

  it('is lost for all when additions were rolled back', async () => {
    const name = freshName()
    const [guard, other] = [open({ name }), open({ name })]
    await guard.rebuild(ids(0, 100))
    await isReady(other)
    const key = await shardOf(name)
    await server.ask('COPY', key, `before-${name}`)
    await guard.addMany(ids(100, 200))
    await server.ask('COPY', `before-${name}`, key, 'REPLACE')
    await mayExist(guard, 'nothing')
    await until(() => other.info().state === 'lost' && guard.info().state === 'lost')
    expect(await refusedOf(other, ids(0, 300))).toEqual([])
  })

  it('is lost when another server answers than the one that it was built on', async () => {
    const name = freshName()
    const guard = open({ name })
    await guard.rebuild(ids(0, 10))
    await isReady(guard)
    // As if from a dump: the same data, in a server that may have forgotten the last additions.
    const record = (await server.ask('HGETALL', `bw-guard:{${name}}`)) as string[]
    const key = await shardOf(name)
    const bits = await server.ask(
      'EVAL',
      `local hex = ''
      for c in string.gmatch(redis.call('GET', KEYS[1]), '.') do hex = hex .. string.format('%02x', string.byte(c)) end
      return hex`,
      1,
      key,
    )
    await server.restart()
    await server.ask(
      'EVAL',
      `local s = string.gsub(ARGV[1], '..', function(x) return string.char(tonumber(x, 16)) end)
      redis.call('SET', KEYS[1], s)
      redis.call('HSET', KEYS[2], unpack(ARGV, 2))`,
      2,
      key,
      `bw-guard:{${name}}`,
      String(bits),
      ...record,
    )
    const asked = open({ name })
    await until(() => asked.info().state === 'lost' && guard.info().state === 'lost')
    expect(await refusedOf(asked, ids(0, 100))).toEqual([])
    expect(await refusedOf(guard, ids(0, 100))).toEqual([])
  })
})

describe('a rebuild', () => {
  it('leaves nothing behind when its process dies, and another takes its turn', async () => {
    const name = freshName()
    const dying = open({ name })
    await dying.rebuild(ids(0, 10))
    void dying
      .rebuild(
        (async function* () {
          await sleep(60_000)
          yield 'never'
        })(),
      )
      .catch(() => {})
    await until(() => dying.info().state === 'ready')
    await sleep(150)
    await ends.pop()!()
    const guard = open({ name })
    await guard.rebuild(ids(0, 20))
    expect(await refusedOf(guard, ids(0, 20))).toEqual([])
    await vi.waitFor(
      async () => expect(await server.ask('KEYS', `bw-guard:{${name}:*:0}`)).toHaveLength(1),
      10_000,
    )
  })

  it('ends in time when Redis is frozen, and the next one is not held up by it', async () => {
    const guard = open({ pace: { stepMs: 300 } })
    await guard.rebuild(ids(0, 10))
    server.freeze()
    try {
      const { ms } = await timed(() => {
        const rebuilt = guard.rebuild(ids(0, 10))
        return expect(rebuilt).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' })
      })
      expect(ms).toBeLessThan(2_000)
    } finally {
      server.thaw()
    }
    await guard.rebuild(ids(10, 20))
    expect(await refusedOf(guard, ids(10, 20))).toEqual([])
  })

  it('rejects, and leaves what was there, when its shards are taken from under it', async () => {
    const name = freshName()
    const guard = open({ name })
    await guard.rebuild(ids(0, 10))
    const before = await shardOf(name)
    const rebuilt = guard.rebuild(
      (async function* () {
        const keys = (await server.ask('KEYS', `bw-guard:{${name}:*:0}`)) as string[]
        for (const key of keys) if (key !== before) await server.ask('DEL', key)
        yield 'id-1'
      })(),
    )
    await expect(rebuilt).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' })
    expect(await refusedOf(guard, ids(0, 10))).toEqual([])
    expect((await refusedOf(guard, ids(100, 200))).length).toBeGreaterThan(80)
  })
})

describe('a guard that is closed', () => {
  it('refuses nobody, takes nothing, and leaves the client to its user', async () => {
    const client = new Redis({ ...server.connection })
    const guard = quickGuard<string>({ client, replica: true })
    await guard.rebuild(ids(0, 10))
    await guard.close()
    await guard.close()
    expect(await refusedOf(guard, ids(0, 50))).toEqual([])
    await expect(guard.add('id-1')).rejects.toMatchObject({ code: 'CLOSED' })
    await expect(guard.rebuild([])).rejects.toMatchObject({ code: 'CLOSED' })
    expect(await client.ping()).toBe('PONG')
    client.disconnect()
    const list = String(await server.ask('CLIENT', 'LIST', 'TYPE', 'PUBSUB'))
    expect(list.trim()).toBe('')
  })

  it('keeps no process alive when it is not', async () => {
    expect(await endsByItself(server)).toBe('refused nothing, then something')
  })
})
