// Random schedules of changes with `settle` in virtual time. The source is read from a replica that
// shows a change only `settle` after it was made. Once that time has passed, and a process has heard
// of the change, no call that begins later gets what the replica gave until then.

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createCache, type EntryDefaults } from '../../src/index.ts'
import { manualClock, memoryStore } from '../../src/testing/index.ts'
import type { BusMessage } from '../../src/ports.ts'
import { gatedStore, type Common, type Gated } from '../support/gated-store.ts'
import { SmallTags } from '../support/small-tags.ts'

const keys = ['a', 'b'] as const
type Key = (typeof keys)[number]
const settleMs = 2_000
const held = ['read', 'acquire', 'publish', 'invalidate', 'bump'] as const

interface Step {
  readonly do: string
  readonly p?: number
  readonly k?: Key
  readonly n?: number
  readonly ms?: number
  readonly what?: Gated
}
const of = <T extends string>(...what: T[]): fc.Arbitrary<T> => fc.constantFrom(...what)
const where = {
  p: fc.constantFrom(0, 0, 0, 1, 1, 1, 2),
  k: fc.constantFrom<Key>('a', 'a', 'a', 'a', 'b'),
}
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 9, arbitrary: fc.record({ do: of('get'), ...where }) },
  { weight: 2, arbitrary: fc.record({ do: of('tags', 'key', 'many'), ...where }) },
  { weight: 6, arbitrary: fc.record({ do: of('end'), n: fc.nat(1) }) },
  {
    weight: 4,
    arbitrary: fc.record({ do: of('pass'), ms: fc.constantFrom(1, 500, 1_100, 2_500) }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ do: of('hold', 'open', 'open'), what: of(...held), p: where.p }),
  },
  { weight: 2, arbitrary: fc.record({ do: of('holdBus', 'releaseBus'), p: where.p }) },
)

const shapes: Record<string, EntryDefaults & { memory?: boolean; store?: boolean }> = {
  'no windows': { ttl: '60s' },
  windows: { ttl: '60s', staleWhileRevalidate: '1m', staleIfError: '1h' },
  'no memory': { ttl: '60s', staleIfError: '1h', memory: false },
  'memory only': { ttl: '60s', store: false },
}

async function run(schedule: readonly Step[], shape: EntryDefaults): Promise<void> {
  const clock = manualClock()
  const common: Common = {
    inner: memoryStore(),
    tags: new SmallTags(),
    scopes: new Set(),
    now: () => clock.now(),
  }
  const changes: Record<Key, { v: number; at: number }[]> = { a: [], b: [] }
  const faults: string[] = []
  const open: Promise<unknown>[] = []
  const loads: (() => void)[] = []
  /** What the replica shows of a change that was made by then. */
  const seen = (key: Key): number =>
    changes[key].findLast(({ at }) => at + settleMs <= clock.now())?.v ?? 0
  const newest = (key: Key): number => changes[key].at(-1)?.v ?? 0
  const reachedBy = (labels: readonly string[]): Key[] =>
    keys.filter((key) => labels.some((one) => one === 't' || one.endsWith(`item:${key}`)))

  const members = [0, 1, 2].map((p) => {
    /** From `at` on, nothing older than `v`. */
    const floors: { key: Key; v: number; at: number }[] = []
    const link = gatedStore(common, {
      sent: (message: BusMessage) => {
        if (message.type !== 'bumped' || message.until === 0) return undefined
        const told = reachedBy(message.labels).map((key) => ({
          key,
          v: newest(key),
          at: message.until,
        }))
        // Both parts of an invalidation by key: the settling and the end of what was.
        if (message.kind === 'settle') return undefined
        return () => void floors.push(...told)
      },
    })
    const cache = createCache({
      namespace: 'settle',
      ttl: '60s',
      storeTimeout: '1h',
      loadTimeout: '1h',
      waitTimeout: '30m',
      clock,
      store: link,
    })
    const item = cache.define({
      name: 'item',
      load: (key: Key) => {
        const v = seen(key)
        return new Promise<{ v: number }>((resolve) => loads.push(() => resolve({ v })))
      },
      tags: ['t'],
      ...shape,
    })
    return { p, floors, link, cache, item }
  })
  await clock.advance(10)

  type Member = (typeof members)[number]
  const ask = (member: Member, key: Key, at: number): void => {
    const now = clock.now()
    const due = member.floors.filter((one) => one.key === key && one.at <= now)
    const least = Math.max(0, ...due.map(({ v }) => v))
    const call = member.item.get(key).then(({ v }) => {
      if (v < least) faults.push(`step ${at}: p${member.p} ${key} ${v}, below ${least}`)
    })
    open.push(call)
  }
  const change = (member: Member, reached: readonly Key[], make: () => Promise<void>): void => {
    const at = clock.now()
    const made = reached.map((key) => {
      const v = newest(key) + 1
      changes[key].push({ v, at })
      return { key, v, at: at + settleMs }
    })
    open.push(make().then(() => void member.floors.push(...made)))
  }
  const settle = { settle: settleMs }
  for (const [at, one] of schedule.entries()) {
    const member = members[one.p ?? 0]!
    const { item, cache, link } = member
    const key = one.k ?? 'a'
    if (one.do === 'get') ask(member, key, at)
    if (one.do === 'tags') change(member, keys, () => cache.invalidateTags('t', settle))
    if (one.do === 'key') change(member, [key], () => item.invalidate(key, settle))
    if (one.do === 'many') change(member, keys, () => item.invalidateMany(keys, settle))
    if (one.do === 'end') loads.splice(one.n! % Math.max(1, loads.length), 1)[0]?.()
    if (one.do === 'hold') link.hold('replies', one.what!)
    if (one.do === 'open') link.release('replies', one.what!)
    if (one.do === 'holdBus') link.holdBus()
    if (one.do === 'releaseBus') link.releaseBus()
    await clock.advance(one.do === 'pass' ? one.ms! : 0)
  }
  for (const { link } of members) link.releaseAll()
  for (let n = 0; n < 60; n++) {
    await clock.advance(250)
    for (const end of loads.splice(0)) end()
  }
  let unsettled = true
  void Promise.allSettled(open).then(() => (unsettled = false))
  await clock.advance(10)
  if (unsettled) faults.push('a call never settled')
  for (const { p, item } of members) {
    for (const key of keys) {
      const call = item.get(key)
      for (let n = 0; n < 5; n++) {
        await clock.advance(0)
        for (const end of loads.splice(0)) end()
      }
      const { v } = await call
      if (v < newest(key)) faults.push(`p${p} holds ${key} ${v}, below ${newest(key)}`)
    }
  }
  expect(faults).toEqual([])
}

const runs = Number(process.env['MODEL_RUNS'] ?? 15)
const seed = process.env['MODEL_SEED'] === undefined ? undefined : Number(process.env['MODEL_SEED'])

describe('changes whose source settles later', () => {
  it.each(Object.entries(shapes))(
    'nobody gets what a replica gave before: %s',
    { timeout: 3_600_000 },
    async (_, shape) => {
      await fc.assert(
        fc.asyncProperty(
          fc.array(step, { minLength: 10, maxLength: 60, size: 'max' }),
          (schedule) => run(schedule, shape),
        ),
        { numRuns: runs, ...(seed === undefined ? {} : { seed }) },
      )
    },
  )
})
