// Random schedules of callers, aborts, timeouts, writes and loader outcomes on three processes in
// virtual time. A failure prints the seed and the smallest schedule that shows it.

import fc from 'fast-check'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { createCache, type LoadContext, type Resource } from '../../src/index.ts'
import { faultyStore, manualClock, memoryStore } from '../../src/testing/index.ts'

const processes = 3
const keys = ['k', 'l']
const options = {
  ttl: 1_000,
  staleWhileRevalidate: 300,
  staleIfError: 900,
  loadTimeout: 400,
  waitTimeout: 300,
  lease: 150,
  errorBackoff: 100,
  negativeTtl: 200,
  uncacheableFor: 250,
  storeTimeout: 50,
  limit: { concurrency: 3, queue: 200 },
} as const
/** storeTimeout (read, acquire) + waitTimeout + queue + loadTimeout, and the load that was waited for in turn. */
const boundMs = 2 * 50 + 300 + 200 + 400 + 400

const outcomes = ['value', 'null', 'throw', 'sync', 'never', 'noStore', 'slow'] as const
type Outcome = (typeof outcomes)[number]

type Step =
  | { do: 'get'; at: number; key: string; maxAge?: number; timeout?: number; abortAfter?: number }
  | { do: 'refresh' | 'invalidate' | 'expire' | 'set'; at: number; key: string }
  | { do: 'advance'; ms: number }
  | { do: 'outcome'; outcome: Outcome }
  | { do: 'fail' | 'hang' | 'heal'; at: number }

const at = fc.nat(processes - 1)
const key = fc.constantFrom(...keys)
const calm: fc.Arbitrary<Step>[] = [
  fc.record({ do: fc.constant('get' as const), at, key }),
  fc.record({ do: fc.constant('get' as const), at, key, maxAge: fc.constantFrom(0, 50, 500) }),
  fc.record({ do: fc.constant('get' as const), at, key, timeout: fc.constantFrom(0, 20, 200) }),
  fc.record({ do: fc.constant('get' as const), at, key, abortAfter: fc.constantFrom(0, 5, 60) }),
  fc.record({ do: fc.constantFrom('refresh', 'invalidate', 'expire', 'set'), at, key }),
  fc.record({
    do: fc.constant('advance' as const),
    ms: fc.constantFrom(0, 1, 10, 40, 160, 450, 1_001),
  }),
  fc.record({ do: fc.constant('outcome' as const), outcome: fc.constantFrom(...outcomes) }),
]
const storms: fc.Arbitrary<Step>[] = [
  ...calm,
  fc.record({ do: fc.constantFrom('fail', 'hang', 'heal'), at }),
]

interface Row {
  readonly row: number
  readonly startedAt: number
}

async function play(steps: readonly Step[]): Promise<void> {
  const clock = manualClock()
  const store = memoryStore()
  const row = new Map<string, number>()
  /** Rows that every caller from now on must see, since their invalidation was awaited. */
  const least = new Map<string, number>()
  /** Processes that may not have heard of what others did. */
  const disturbed = new Set<number>()
  const gaveNull = new Set<string>()
  /** Sets under way, and those of them that a later change may have overtaken: row and key. */
  const setting = new Set<string>()
  const late = new Set<string>()
  const faults: string[] = []
  const pending = new Set<Promise<void>>()
  let outcome: Outcome = 'value'
  let loads = 0

  const load = (id: string, ctx: LoadContext): Promise<Row | null> => {
    loads++
    const value = { row: row.get(id) ?? 0, startedAt: clock.now() }
    const after = (ms: number): Promise<void> =>
      new Promise((resolve) => void clock.after(ms, resolve))
    switch (outcome) {
      case 'value':
        return after(30).then(() => value)
      case 'slow':
        return after(390).then(() => value)
      case 'null':
        return after(10).then(() => (gaveNull.add(id), null))
      case 'throw':
        return after(20).then(() => Promise.reject(new Error('told to')))
      case 'sync':
        throw new Error('at once')
      case 'never':
        return new Promise(() => {})
      case 'noStore':
        ctx.noStore()
        return after(30).then(() => value)
    }
  }
  const links = Array.from({ length: processes }, () => faultyStore(store))
  const caches = links.map((link) =>
    createCache({ namespace: 'test', clock, store: link, ...options }),
  )
  const items: Resource<string, Row | null>[] = caches.map((cache) =>
    cache.define({ name: 'item', load }),
  )
  await clock.advance(10)

  const call = (step: Step, key: string, since: number, run: () => Promise<Row | null>): void => {
    const bornAt = clock.now()
    const wanted = least.get(`${'at' in step ? step.at : 0}${key}`) ?? 0
    const told = (what: string): void => void faults.push(`${JSON.stringify(step)}: ${what}`)
    const check = (): void => {
      const took = clock.now() - bornAt
      // One that could not use what it had waited for waits once more, for a load of its own.
      if (took > (since === -Infinity ? 1 : 2) * boundMs) told(`took ${took} ms`)
    }
    const ended = run().then(
      (value) => {
        check()
        if (value === null) {
          if (!gaveNull.has(key)) told('null that no loader gave')
        } else if (typeof value !== 'object') told(`${value} that no loader gave`)
        else {
          if (value.row < wanted && !late.has(`${value.row}${key}`))
            told(`row ${value.row}, ${wanted} was awaited before`)
          if (value.startedAt < since) told(`began at ${value.startedAt}, wanted ${since}`)
        }
      },
      (error: { code?: string; message: string }) => {
        check()
        const known = ['at once', 'told to', 'left']
        if (error.code === 'CLOSED' || error.code === 'CYCLE' || error.code === 'INVALID_OPTION') {
          told(error.message)
        } else if (error.code === undefined && !known.includes(error.message)) told(String(error))
      },
    )
    pending.add(ended)
    void ended.finally(() => pending.delete(ended))
  }

  for (const step of steps) {
    switch (step.do) {
      case 'advance':
        await clock.advance(step.ms)
        break
      case 'outcome':
        outcome = step.outcome
        break
      case 'fail':
      case 'hang':
      case 'heal':
        disturbed.add(step.at)
        links[step.at]![step.do]()
        break
      case 'get': {
        const { maxAge, timeout, abortAfter } = step
        const controller = new AbortController()
        if (abortAfter !== undefined) {
          clock.after(abortAfter, () => controller.abort(new Error('left')))
        }
        const signal = abortAfter === undefined ? undefined : controller.signal
        const since = maxAge === undefined ? -Infinity : clock.now() - maxAge
        call(step, step.key, since, () =>
          items[step.at]!.get(step.key, { maxAge, timeout, signal }),
        )
        break
      }
      case 'refresh':
        call(step, step.key, clock.now(), () => items[step.at]!.refresh(step.key))
        break
      case 'expire':
        items[step.at]!.expire(step.key).catch(() => {})
        break
      case 'invalidate':
      case 'set': {
        const next = (row.get(step.key) ?? 0) + 1
        row.set(step.key, next)
        const item = items[step.at]!
        // A set that is still under way (its store hangs) may land after this change: as it did not
        // return before this one was called, either order is right.
        for (const other of setting) if (other.endsWith(step.key)) late.add(other)
        const own = `${next}${step.key}`
        if (step.do === 'set') setting.add(own)
        const done =
          step.do === 'set'
            ? item.set(step.key, { row: next, startedAt: clock.now() })
            : item.invalidate(step.key)
        const settled = (): void => void setting.delete(own)
        done.then(settled, settled)
        // Once every process has had the time to hear of it.
        done.then(
          () =>
            setImmediate(() => {
              for (let n = 0; n < processes; n++) {
                const here = `${n}${step.key}`
                if (n !== step.at && disturbed.has(n)) continue
                least.set(here, Math.max(least.get(here) ?? 0, next))
              }
            }),
          () => {},
        )
      }
    }
  }
  for (const link of links) link.heal()
  await clock.advance(2 * boundMs)
  if (pending.size > 0) faults.push(`${pending.size} calls hang`)

  await clock.advance('20s') // every remembered failure and abandoned run of old is over
  outcome = 'value'
  const stuck = caches.filter((cache) => cache.health().loads.queued > 0)
  if (stuck.length > 0) faults.push(`${stuck.length} processes with queued loads`)
  for (const cache of caches) {
    const { running } = cache.health().loads
    if (running > 0) faults.push(`${running} loads running at the end`)
  }
  const counted = caches
    .map((cache) => cache.counters()['item']!)
    .reduce(
      (sum, it) =>
        sum + it.leases + it.unleasedWaited + it.unleasedStore + it.unleasedNolease +
        it.unleasedUncacheable + it.unleasedPrivate + it.unleasedLocal,
      0,
    ) // prettier-ignore
  if (loads > counted) faults.push(`${loads} loads, ${counted} leases and unleased loads`)
  expect(faults).toEqual([])
  for (const cache of caches) {
    const closing = cache.close()
    await clock.advance('6s')
    await closing
  }
}

const unhandled: unknown[] = []
const onUnhandled = (reason: unknown): void => void unhandled.push(reason)
beforeEach(() => {
  unhandled.length = 0
  process.on('unhandledRejection', onUnhandled)
})
afterEach(() => void process.off('unhandledRejection', onUnhandled))

const seed = Number(process.env['BREAKWATER_SEED'] ?? Date.now() % 1_000_000)
const numRuns = Number(process.env['BREAKWATER_RUNS'] ?? 60)

it.each([
  ['a healthy store', calm],
  ['stores that fail, hang and come back', storms],
] as const)(
  `with %s: every call ends in time, with a value that a loader gave and that is not too old (seed ${seed})`,
  async (_what, kinds) => {
    const steps = fc.array(fc.oneof(...kinds), { minLength: 5, maxLength: 60 })
    await fc.assert(fc.asyncProperty(steps, play), { numRuns, seed, endOnFailure: false })
    expect(unhandled).toEqual([])
  },
  300_000,
)
