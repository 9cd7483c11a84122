// Traffic with a judge. Every key has a version in the source; a change bumps it and invalidates. In
// the process that changed it, a read that began after the invalidation was taken must not see
// anything older. Another process may, until it has heard of it: there the end is judged.

import { expect } from 'vitest'
import type { Cache } from '../../src/index.ts'
import { sleep } from './open-session.ts'

interface Versioned {
  readonly key: string
  readonly version: number
}

export interface Told {
  readonly reads: number
  readonly changes: number
  /** Of reads. There is no reason for one. */
  readonly errors: readonly string[]
  /** Changes that the store did not take in time: they are repeated until it does. */
  readonly refused: readonly string[]
}

export interface Truth {
  /** Reads and changes of these keys, in parallel, for as long as `during` runs. */
  traffic(keys: readonly string[], during: () => Promise<void>): Promise<Told>
  /** One change of each key, which must be taken. */
  changeAll(keys: readonly string[]): Promise<void>
  /** Both processes see the last versions, sooner or later, and then for this long. */
  settles(keys: readonly string[], steadyMs?: number): Promise<void>
}

/** `mine` changes and is judged; it keeps nothing in memory, so that the store is what it sees. */
export function truthOf(mine: Cache, other: Cache): Truth {
  const versions = new Map<string, number>()
  const taken = new Map<string, number>()
  const load = async (key: string): Promise<Versioned> => {
    const version = versions.get(key) ?? 0
    await sleep(5)
    return { key, version }
  }
  const items = mine.define({ name: 'item', memory: false, load })
  const others = other.define({ name: 'item', load })

  const change = async (keys: readonly string[]) => {
    const bumped = keys.map((key) => [key, (versions.get(key) ?? 0) + 1] as const)
    for (const [key, version] of bumped) versions.set(key, version)
    if (keys.length === 1) await items.invalidate(keys[0]!)
    else await items.invalidateMany(keys)
    for (const [key, version] of bumped) taken.set(key, Math.max(version, taken.get(key) ?? 0))
  }
  const judge = (keys: readonly string[], values: readonly Versioned[], least: number[]) => {
    expect(values.map(({ key }) => key)).toEqual(keys)
    for (const [n, { key, version }] of values.entries()) {
      if (version < least[n]!) throw new Error(`${key}: ${version} after ${least[n]} was changed`)
    }
  }
  const readMine = async (keys: readonly string[]) => {
    const least = keys.map((key) => taken.get(key) ?? 0)
    const [only] = keys
    judge(keys, keys.length === 1 ? [await items.get(only!)] : await items.getMany(keys), least)
  }
  const readOther = async (keys: readonly string[]) => {
    judge(
      keys,
      await others.getMany(keys),
      keys.map(() => 0),
    )
  }

  return {
    changeAll: change,
    async settles(keys, steadyMs = 50) {
      const last = keys.map((key) => versions.get(key) ?? 0)
      const seen = async (some: typeof items) =>
        (await some.getMany(keys)).map(({ version }) => version)
      const steady = async () => {
        const from = performance.now()
        for (;;) {
          const both = [await seen(items), await seen(others)]
          if (both.some((one) => one.join() !== last.join())) return both
          if (performance.now() - from > steadyMs) return both
          await sleep(steadyMs / 20)
        }
      }
      await expect.poll(steady, { timeout: 60_000 + steadyMs }).toEqual([last, last])
    },
    async traffic(keys, during) {
      const told = { reads: 0, changes: 0, errors: [] as string[], refused: [] as string[] }
      let over = false
      const repeat = async (run: (n: number) => Promise<void>, fail: (error: unknown) => void) => {
        for (let n = 0; !over; n += 1) {
          await run(n).catch(fail)
          await sleep(2)
        }
      }
      const reads = (run: (n: number) => Promise<void>) =>
        repeat(
          async (n) => {
            await run(n)
            told.reads += 1
          },
          (error) => told.errors.push(String(error)),
        )
      const changes = (some: (n: number) => readonly string[]) =>
        repeat(
          async (n) => {
            await change(some(n))
            told.changes += 1
          },
          (error) => {
            const refused = (error as { code?: string }).code === 'STORE_UNAVAILABLE'
            ;(refused ? told.refused : told.errors).push(String(error))
          },
        )
      const one = (n: number) => [keys[n % keys.length]!]
      const all = Promise.all([
        reads((n) => readMine(one(n))),
        reads((n) => readMine(one(n * 7 + 3))),
        reads(() => readMine(keys)),
        reads(() => readOther(keys)),
        changes(one),
        changes((n) => keys.filter((_, at) => at % 3 === n % 3)),
      ])
      try {
        await during()
      } finally {
        over = true
        await all
      }
      return told
    },
  }
}
