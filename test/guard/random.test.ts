// Several processes share one filter while everything goes wrong that can: rebuilds that are left
// half-way, processes that vanish, evictions of any of its keys, FLUSHALL, restarts of the server. An
// id whose addition was done is never refused from then on by anyone. Variants that are broken on
// purpose are found by the same search; else it would prove nothing.
//
// Longer: BREAKWATER_GUARD_SECONDS=600. The same again: BREAKWATER_GUARD_SEED=<seed>.

import { randomInt } from 'node:crypto'
import { startRedisServer, type RedisServer } from '@breakwater/rig'
import { Redis } from 'ioredis'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { RedisGuard } from '../../src/guard/redis-guard.ts'
import type { RedisCommands } from '../../src/redis/commands.ts'
import { scripts } from '../../src/redis/scripts.generated.ts'
import { sleep } from '../support/open-session.ts'
import { quickGuard } from '../support/quick-guard.ts'
import { mayExist } from './guard-suite.ts'

const seconds = Number(process.env['BREAKWATER_GUARD_SECONDS'] ?? 4)
const givenSeed = process.env['BREAKWATER_GUARD_SEED']

let server: RedisServer
beforeAll(async () => {
  server = await startRedisServer()
})
afterAll(() => server.stop())

type Meddle = (commands: RedisCommands) => RedisCommands

/** Deterministic, 0 ≤ r < 1. */
function randomOf(seed: number): () => number {
  let state = seed
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state / 2 ** 32
  }
}

interface Search {
  readonly seed: number
  readonly name: string
  readonly ms: number
  readonly meddle?: Meddle
  /** Half of the processes have a copy, which hears of an addition a little later. */
  readonly copies?: boolean
  /** Disasters that are left out. */
  readonly without?: readonly string[]
}

/** What was refused and exists, the first that is found; `undefined`: nothing. */
async function search({ seed, name, ms, meddle, copies = false, without = [] }: Search) {
  const random = randomOf(seed)
  const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)]!
  /** The source: what exists. Committed some time after it was added. */
  const exists = new Set<string>()
  const done: string[] = []
  const lagMs = copies ? 500 : 0
  const told: string[] = []
  const end = performance.now() + ms
  let found: string | undefined
  let next = 0
  let refusals = 0

  const start = (_: unknown, n: number) => {
    const client = new Redis({ ...server.connection, maxRetriesPerRequest: 1 })
    client.on('error', () => {})
    const replica = copies && n % 2 === 0
    const guard = quickGuard({ client, name, capacity: 3_000, replica, ...(meddle && { meddle }) })
    return { client, guard }
  }
  const processes = Array.from({ length: 4 }, start)
  const guardOf = (): RedisGuard<string> => pick(processes).guard

  const commit = (id: string) => {
    exists.add(id)
    if (lagMs === 0) done.push(id)
    else setTimeout(() => done.push(id), lagMs)
  }
  const add = async () => {
    const id = `${seed}-${(next += 1)}`
    const late = random() < 0.3 ? random() * 100 : 0
    try {
      await guardOf().add(id)
    } catch {
      return // the writer knows
    }
    if (late > 0) await sleep(late)
    commit(id)
  }
  async function* source(broken: boolean) {
    let n = 0
    // As of when it begins to read, like a cursor.
    for (const id of Array.from(exists)) {
      if ((n += 1) % 200 === 0) await sleep(1)
      if (broken && n > exists.size / 2) throw new Error('left half-way')
      yield id
    }
  }
  const rebuild = async () => {
    await guardOf()
      .rebuild(source(random() < 0.2))
      .catch(() => {})
  }
  const evict = async () => {
    const keys = (await server.ask('KEYS', `bw-guard:{${name}*`)) as string[]
    if (keys.length > 0) await server.ask('DEL', pick(keys))
  }
  const crash = async () => {
    const n = Math.floor(random() * processes.length)
    const { client, guard } = processes[n]!
    processes[n] = start(undefined, n)
    client.disconnect()
    await guard.close()
  }
  const disasters: Record<string, () => Promise<unknown>> = {
    evict,
    crash,
    flush: () => server.ask('FLUSHALL'),
    restart: () => server.restart(),
    scripts: () => server.ask('SCRIPT', 'FLUSH'),
  }
  const asking = async () => {
    while (performance.now() < end && found === undefined) {
      const recent = done.slice(-20)
      const ids = [...recent, ...Array.from({ length: 20 }, () => pick(done) ?? '')].filter(Boolean)
      const guard = guardOf()
      const answers = await Promise.all(ids.map((id) => mayExist(guard, id)))
      const at = answers.indexOf(false)
      if (at !== -1) found ??= ids[at]
      const nobody = await mayExist(guard, `nobody-${random()}`)
      if (!nobody) refusals += 1
      await sleep(1)
    }
  }
  const repeat = async (run: () => Promise<unknown>, pauseMs: number) => {
    while (performance.now() < end && found === undefined) {
      await run().catch((error: unknown) => told.push(String(error)))
      await sleep(random() * pauseMs)
    }
  }
  const names = Object.keys(disasters).filter((one) => !without.includes(one))
  const rare = { evict: 1, crash: 0.7, flush: 0.1, restart: 0.1, scripts: 0.3 } as const
  await Promise.all([
    asking(),
    asking(),
    repeat(add, 4),
    repeat(add, 4),
    repeat(add, 4),
    repeat(rebuild, 150),
    repeat(rebuild, 600),
    repeat(async () => {
      const disaster = pick(names)
      if (random() < rare[disaster as keyof typeof rare]) await disasters[disaster]!()
    }, 400),
  ])
  await Promise.all(processes.map(({ guard }) => guard.close()))
  for (const { client } of processes) client.disconnect()
  return { found, refusals, added: done.length }
}

let searches = 0
function nameOf(): string {
  searches += 1
  return `random-${searches}`
}

describe('a filter that many share while everything goes wrong', () => {
  it('never refuses what exists', { timeout: seconds * 1_000 + 30_000 }, async () => {
    const seed = givenSeed === undefined ? randomInt(2 ** 31) : Number(givenSeed)
    const result = await search({ seed, name: nameOf(), ms: seconds * 1_000 })
    expect(result.found, `BREAKWATER_GUARD_SEED=${seed}`).toBe(undefined)
    // It refused at all.
    expect(result.refusals, `BREAKWATER_GUARD_SEED=${seed}`).toBeGreaterThan(20)
    expect(result.added).toBeGreaterThan(100)
  })

  it(
    'nor do those who keep a copy, once they have heard of it',
    {
      timeout: seconds * 1_000 + 30_000,
    },
    async () => {
      const seed = givenSeed === undefined ? randomInt(2 ** 31) : Number(givenSeed)
      const result = await search({ seed, name: nameOf(), ms: seconds * 1_000, copies: true })
      expect(result.found, `BREAKWATER_GUARD_SEED=${seed}`).toBe(undefined)
      expect(result.refusals, `BREAKWATER_GUARD_SEED=${seed}`).toBeGreaterThan(20)
    },
  )

  /** Calls of a script, changed. */
  const onScript =
    (
      sha1: string,
      change: (
        call: Parameters<RedisCommands['evalsha']>[1],
        commands: RedisCommands,
      ) => Promise<unknown>,
    ): Meddle =>
    (commands) =>
      over(commands, {
        evalsha: (given, call) =>
          given === sha1 ? change(call, commands) : commands.evalsha(given, call),
      })

  const flaws: readonly { flaw: string; meddle: Meddle; without?: readonly string[] }[] = [
    {
      flaw: 'adds to nothing but the epoch in force',
      without: ['evict', 'flush', 'restart'],
      meddle: onScript(scripts.guardRead.sha1, async (call, commands) => {
        const [ms, fields] = (await commands.evalsha(scripts.guardRead.sha1, call)) as [
          unknown,
          unknown[],
        ]
        const kept: unknown[] = []
        for (let at = 0; at < fields.length; at += 2) {
          if (!/^(next|old:)/.test(String(fields[at]))) kept.push(fields[at], fields[at + 1])
        }
        return [ms, kept]
      }),
    },
    {
      flaw: 'makes a shard anew that is gone (and does not count)',
      without: ['flush', 'restart', 'scripts'],
      meddle: (commands) =>
        onScript(scripts.guardAdd.sha1, async (call) => {
          const args = [call.args[0]!, call.args[1]!, '600000']
          await commands.eval(scripts.guardCreate.source, { keys: call.keys, args })
          return Math.min(0, Number(await commands.eval(scripts.guardAdd.source, call)))
        })(uncounted(commands)),
    },
    {
      flaw: 'does not look at the tag (and does not count)',
      without: ['flush', 'restart', 'scripts'],
      meddle: (commands) =>
        uncounted(
          over(commands, {
            keyed: async (command, key, args) => {
              const reply = await commands.keyed(command, key, args)
              if (command !== 'BITFIELD_RO') return reply
              const name = key.slice(0, key.indexOf(':', 'bw-guard:'.length))
              const current = await commands.keyed('HGET', `${name}}`, ['current'])
              if (current === null) return reply
              const { tag } = JSON.parse(String(current)) as { tag: number }
              return [tag, 0, tag, ...(reply as unknown[]).slice(3)]
            },
          }),
        ),
    },
  ]

  it.each(flaws)(
    'is not let off when it $flaw',
    { timeout: 60_000 },
    async ({ meddle, without = [] }) => {
      for (let attempt = 0; attempt < 5; attempt += 1) {
        const seed = randomInt(2 ** 31)
        const { found } = await search({ seed, name: nameOf(), ms: 8_000, meddle, without })
        if (found !== undefined) return
      }
      expect.fail('nothing was found')
    },
  )
})

/** Counts that have gone back give away much of what else is wrong. */
function uncounted(commands: RedisCommands): RedisCommands {
  const counting: readonly string[] = [scripts.guardAdd.sha1, scripts.guardMerge.sha1]
  return over(commands, {
    evalsha: async (sha1, call) => {
      const reply = await commands.evalsha(sha1, call)
      return counting.includes(sha1) ? Math.min(0, Number(reply)) : reply
    },
    keyed: async (command, key, args) => {
      const reply = await commands.keyed(command, key, args)
      if (command !== 'BITFIELD_RO') return reply
      const [first, , ...rest] = reply as unknown[]
      return [first, 0, ...rest]
    },
  })
}

/** A spread would read `ready` once and for all. */
function over(commands: RedisCommands, changed: Partial<RedisCommands>): RedisCommands {
  return Object.assign(Object.create(commands) as RedisCommands, changed)
}
