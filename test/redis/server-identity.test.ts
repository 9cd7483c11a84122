// What counts as another server: the invalidations of the last minute are repeated for it.

import { expect, it } from 'vitest'
import type { RedisServer } from '../../src/redis/commands.ts'
import { ServerIdentity } from '../../src/redis/server-identity.ts'

function server(name: string, state = { run: `run of ${name}`, role: 'master' }) {
  const asServer = {
    name,
    info: async (section: string) =>
      section === 'server' ? `run_id:${state.run.replaceAll(' ', '-')}` : `role:${state.role}`,
  }
  return { ...(asServer as RedisServer), state }
}

it('to get to know the servers of a cluster, one with each beat, is no change', async () => {
  const identity = new ServerIdentity()
  const all = ['a:1', 'b:2', 'c:3'].map((name) => server(name))
  const first = identity.of(all)
  for (const one of [...all, ...all]) {
    await identity.learn(one)
    expect(identity.of(all)).toBe(first)
  }
  expect(identity.of(all.toReversed())).toBe(first)
  identity.forget()
  for (const one of all) await identity.learn(one)
  expect(identity.of(all)).toBe(first)
})

it('a restart, another role and other names are one change each', async () => {
  const identity = new ServerIdentity()
  const [a, b, c] = ['a:1', 'b:2', 'c:3'].map((name) => server(name)) as [
    ReturnType<typeof server>,
    ReturnType<typeof server>,
    ReturnType<typeof server>,
  ]
  const seen: string[] = []
  const look = async (...servers: readonly RedisServer[]) => {
    for (const one of servers) await identity.learn(one)
    seen.push(identity.of(servers))
  }
  await look(a, b)
  a.state.run = 'another'
  await look(a, b)
  await look(a, b)
  b.state.role = 'slave'
  await look(a, b)
  b.state.role = 'master'
  await look(a, b)
  await look(a, c)
  await look(a, c)
  const changes = seen.map((one, n) => n > 0 && one !== seen[n - 1])
  expect(changes).toEqual([false, true, false, true, true, true, false])
})
