// A beat through the masters of a cluster, some of which do not answer.

import { expect, it } from 'vitest'
import type { EpochNews } from '../../src/ports.ts'
import type { RedisCommands, RedisServer } from '../../src/redis/commands.ts'
import { Heartbeat } from '../../src/redis/heartbeat.ts'
import { ServerIdentity } from '../../src/redis/server-identity.ts'

type State = 'well' | 'gone' | 'frozen' | 'refusing'

const news: EpochNews = {
  time: 5_000,
  highest: 1,
  floor: 1,
  since: 1,
  marks: [],
  settling: [],
}

function cluster(...states: readonly State[]) {
  const asked: string[] = []
  const faults: unknown[] = []
  const clock = { now: 0 }
  const servers = states.map((state, n): RedisServer => {
    const answer = async <T>(what: string, value: T): Promise<T> => {
      asked.push(`${what} ${n}`)
      if (state === 'frozen') return new Promise<never>(() => {})
      if (state === 'gone') throw new Error(`${n} is gone`)
      if (state === 'refusing' && what === 'publish') throw new Error('NOPERM')
      return value
    }
    return {
      name: `m${n}`,
      publish: () => answer('publish', 1),
      time: () => answer('time', ['4', '0']),
      info: (section) => answer('info', section === 'server' ? 'run_id:x' : 'role:master'),
      reconnect: () => asked.push(`reconnect ${n}`),
    }
  })
  const heartbeat = new Heartbeat({
    commands: { servers: () => servers } as unknown as RedisCommands,
    identity: new ServerIdentity(),
    channel: 'own',
    now: () => clock.now,
    onFault: (error) => faults.push(error),
  })
  return { asked, faults, clock, heartbeat }
}

const told = async () => news
const never = () => new Promise<never>(() => {})

it('costs one server what it tells of tags, a message, and once who it is', async () => {
  const { asked, heartbeat } = cluster('well')
  expect(await heartbeat.beat(1, told)).toMatchObject({ time: 5_000 })
  expect(asked).toEqual(['publish 0', 'info 0', 'info 0'])
  await heartbeat.beat(2, told)
  expect(asked.slice(3)).toEqual(['publish 0'])
  expect(await heartbeat.beat(3, async () => undefined)).toMatchObject({ time: 4_000 })
})

it('costs sixteen masters a message and a look at the clock each, and one of them who it is', async () => {
  const { asked, heartbeat } = cluster(...Array.from({ length: 16 }, () => 'well' as const))
  const { sent } = await heartbeat.beat(1, told)
  expect(sent.map(({ through }) => through)).toEqual(Array.from({ length: 16 }, (_, n) => `m${n}`))
  const count = (what: string) => asked.filter((one) => one.startsWith(what)).length
  expect(['publish', 'time', 'info'].map(count)).toEqual([16, 16, 2])
})

it('is answered by whoever answers, and tells who has taken it', async () => {
  const { heartbeat, faults } = cluster('gone', 'frozen', 'well', 'refusing')
  const beat = await heartbeat.beat(0, never)
  expect(beat.time).toBe(4_000)
  const took = beat.sent.map(async ({ taken }) =>
    Promise.race([taken, new Promise((resolve) => setTimeout(resolve, 20, 'unknown'))]),
  )
  expect(await Promise.all(took)).toEqual([false, 'unknown', true, false])
  expect(faults.map(String)).toEqual(['Error: NOPERM'])
})

it('fails when nobody answers, or the only server does not in part', async () => {
  const all = cluster('gone', 'gone')
  await expect(all.heartbeat.beat(0, told)).rejects.toThrow('0 is gone')
  const one = cluster('well')
  const fault = async () => Promise.reject(new Error('LOADING'))
  await expect(one.heartbeat.beat(0, fault)).rejects.toThrow('LOADING')
  const two = cluster('well', 'well')
  expect(await (await two.heartbeat.beat(0, fault)).news).toBeUndefined()
  await expect(cluster().heartbeat.beat(0, told)).rejects.toThrow('no master')
})

it('a master that owes an answer for 5 s gets a new connection', async () => {
  const { asked, clock, heartbeat } = cluster('well', 'frozen')
  for (let n = 0; n <= 7; n += 1) {
    clock.now = n * 2_000
    await heartbeat.beat(0, told)
  }
  expect(asked.filter((one) => one.startsWith('reconnect'))).toEqual(['reconnect 1', 'reconnect 1'])
})
