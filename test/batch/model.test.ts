// Random batches that overlap on several processes in virtual time, against what must hold of every
// schedule: nobody gets another key's row, every call settles, and no key is loaded twice at once.
// A failure prints the seed and the smallest schedule that shows it.

import fc from 'fast-check'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { createCache, type BatchContext, type Clock, type Resource } from '../../src/index.ts'
import { port, type BusMessage, type Store, type StorePort } from '../../src/ports.ts'
import { faultyStore, manualClock, memoryStore } from '../../src/testing/index.ts'

const processes = 3
const keys = [0, 1, 2, 3, 4, 5]
const options = {
  ttl: 1_000,
  staleWhileRevalidate: 400,
  staleIfError: 900,
  loadTimeout: 400,
  waitTimeout: 300,
  lease: 150,
  errorBackoff: 100,
  negativeTtl: 200,
  uncacheableFor: 250,
  storeTimeout: 80,
} as const
/** storeTimeout (read, acquire) + waitTimeout + queue + loadTimeout, and the load that was waited for. */
const boundMs = 2 * 80 + 300 + 200 + 400 + 400

const outcomes = ['rows', 'Map', 'slow', 'none', 'throw', 'sync', 'short', 'noStore', 'private', 'never'] as const // prettier-ignore
type Outcome = (typeof outcomes)[number]

interface Step {
  readonly do: 'many' | 'settled' | 'one' | 'refresh' | 'invalidate' | 'expire' | 'set' | 'clear' | 'advance' | 'outcome' | 'fail' | 'hang' | 'heal' // prettier-ignore
  readonly at?: number
  readonly ids?: readonly number[]
  readonly call?: { maxAge?: number; timeout?: number; abortAfter?: number }
  readonly ms?: number
  readonly outcome?: Outcome
}

const at = fc.nat(processes - 1)
const ids = fc.array(fc.constantFrom(...keys), { minLength: 1, maxLength: 8 })
const id = fc.constantFrom(...keys).map((key) => [key])
const asks = fc.record({ do: fc.constantFrom('many', 'many', 'settled'), at, ids })
const single = fc.record({ do: fc.constant('one' as const), at, ids: id })
const advance = fc.record({
  do: fc.constant('advance' as const),
  ms: fc.constantFrom(0, 1, 3, 10, 40, 160, 450, 1_001),
})
const outcome = (...some: Outcome[]) =>
  fc.record({ do: fc.constant('outcome' as const), outcome: fc.constantFrom(...some) })
const changes = fc.record({
  do: fc.constantFrom('invalidate', 'invalidate', 'expire', 'set', 'clear'),
  at,
  ids,
})
/** Loads although somebody may be loading. */
const refresh = fc.record({ do: fc.constant('refresh' as const), at, ids })
const impatient = fc.record({
  do: fc.constantFrom('many', 'settled'),
  at,
  ids,
  call: fc.oneof(
    fc.record({ maxAge: fc.constantFrom(0, 50, 500) }),
    fc.record({ timeout: fc.constantFrom(0, 20, 200) }),
    fc.record({ abortAfter: fc.constantFrom(0, 2, 5, 60) }),
  ),
})
const faults = fc.record({ do: fc.constantFrom('fail', 'hang', 'heal'), at })

type Arbitraries = fc.Arbitrary<Step>[]
const calm = [asks, single, advance, outcome('rows', 'Map', 'slow', 'none', 'throw', 'short')] as Arbitraries // prettier-ignore
const changing = [...calm, changes] as Arbitraries
const forced = [...changing, refresh] as Arbitraries
const storms = [...forced, impatient, outcome(...outcomes), faults] as Arbitraries

interface Row {
  readonly id: number
  readonly version: number
}

interface World {
  /** Replies and messages take their time, so that they overtake each other. */
  readonly isSlow: boolean
  /** Of one key never more than one load runs in the fleet that began after its last change. */
  readonly isStrict: boolean
  /** Loads at once in each process. */
  readonly places: number
}

async function play(steps: readonly Step[], seed: number, { isSlow, isStrict, places }: World) {
  const clock = manualClock()
  const shared = isSlow ? slowStore(memoryStore(), clock, seed) : memoryStore()
  const found: string[] = []
  const told = (what: string): void => void found.push(what)
  const version = new Map<number, number>()
  /** Since when it is what it is. */
  const changedAt = new Map<number, number>()
  /** Versions that every process must have heard of. */
  const least = new Map<string, number>()
  const disturbed = new Set<number>()
  /** Versions that are being written, and those of them that a later change may have overtaken. */
  const setting = new Map<string, number>()
  const late = new Set<string>()
  let is: Outcome = 'rows'

  const running = new Map<number, Set<{ readonly since: number }>>()
  const begin = (id: number): (() => void) => {
    const mine = { since: clock.now() }
    const all = running.get(id) ?? new Set()
    running.set(id, all.add(mine))
    const current = [...all].filter(({ since }) => since > (changedAt.get(id) ?? -Infinity))
    if (isStrict && current.length > 1) told(`${current.length} loads of ${id} at ${clock.now()}`)
    return () => void all.delete(mine)
  }
  const after = (ms: number): Promise<void> =>
    new Promise((resolve) => void clock.after(ms, resolve))

  /** Loader runs by process. */
  const atOnce = Array.from({ length: processes }, () => 0)
  /** One run of a loader, of one row or of many. */
  const run = async (
    here: number,
    asked: readonly number[],
    signal: AbortSignal,
    outcome: Outcome,
  ): Promise<(Row | null | Error)[]> => {
    const leave = (): void => void atOnce[here]!--
    if (++atOnce[here]! > places) told(`${atOnce[here]} loads at once`)
    const ends = [...asked.map(begin), leave]
    const end = (): void => {
      for (const one of ends.splice(0)) one()
    }
    signal.addEventListener('abort', end)
    try {
      const rows = asked.map((id): Row => ({ id, version: version.get(id) ?? 0 }))
      if (outcome === 'never') await new Promise(() => {})
      await after(outcome === 'slow' ? 120 : 20)
      if (outcome === 'throw') throw new Error('told to')
      if (outcome === 'none') return rows.map((row) => (row.id % 2 === 0 ? null : row))
      if (outcome === 'short') {
        return rows.map((row) => (row.id % 3 === 0 ? new Error('told to') : row))
      }
      return rows
    } finally {
      end()
    }
  }
  const links = Array.from({ length: processes }, () => faultyStore(shared))
  const caches = links.map((link, n) =>
    createCache({
      namespace: 'test',
      clock,
      store: link,
      ...options,
      limit: { concurrency: places, queue: 200 },
      ...(n === 0 ? { memory: false } : {}),
    }),
  )
  const items = caches.map((cache, here): Resource<number, Row | null> =>
    cache.define({
      name: 'item',
      load: async (id: number, ctx) => {
        const outcome = is
        if (outcome === 'noStore') ctx.noStore()
        if (outcome === 'private') ctx.private()
        const [row] = await run(here, [id], ctx.signal, outcome)
        if (row instanceof Error) throw row
        return row ?? null
      },
      loadMany: (asked: readonly number[], ctx: BatchContext<number>) => {
        if (new Set(asked).size !== asked.length) told(`loads ${asked.join()}`)
        const outcome = is
        if (outcome === 'sync') throw new Error('told to')
        for (const id of asked) {
          if (id % 2 === 0 && outcome === 'noStore') ctx.entry(id).noStore()
          if (id % 2 === 0 && outcome === 'private') ctx.entry(id).private()
        }
        const rows = run(here, asked, ctx.signal, outcome)
        if (outcome !== 'Map') return rows
        return rows.then((all) => new Map(asked.map((id, n) => [id, all[n]!]).toReversed() as [number, Row | null][])) as never // prettier-ignore
      },
    }),
  )
  await clock.advance(20)

  const pending = new Set<Promise<void>>()
  /** A call, its keys and what they may come to. */
  const watch = (step: Step, work: Promise<readonly PromiseSettledResult<Row | null>[]>): void => {
    const bornAt = clock.now()
    const here = step.at!
    const asked = step.ids!
    const wanted = asked.map((id) => least.get(`${here}/${id}`) ?? 0)
    const wrong = (what: string): void => told(`${JSON.stringify(step)}: ${what}`)
    const ended = work.then((results) => {
      const took = clock.now() - bornAt
      if (took > (step.call?.maxAge === undefined ? 1 : 2) * boundMs) wrong(`took ${took} ms`)
      if (results.length !== asked.length) wrong(`${results.length} results`)
      for (const [n, result] of results.entries()) {
        if (result.status === 'rejected') {
          const error = result.reason as { code?: string; message: string }
          const mine = ['told to', 'left'].includes(error.message)
          const codes = ['WAIT_TIMEOUT', 'LOAD_TIMEOUT', 'OVERLOADED', 'LOAD_FAILED_ELSEWHERE']
          if (!mine && !codes.includes(error.code ?? '')) wrong(String(error))
        } else if (result.value !== null) {
          const row = result.value
          if (row.id !== asked[n]) wrong(`row ${row.id} at ${n}, which is ${asked[n]}`)
          const isOld = row.version < wanted[n]! && !late.has(`${row.version}/${row.id}`)
          if (isOld) wrong(`v${row.version} of ${row.id}, not v${wanted[n]}`)
        }
      }
    })
    pending.add(ended)
    void ended.finally(() => pending.delete(ended))
  }
  const settled = (work: Promise<readonly (Row | null)[]>, many: readonly number[]) =>
    work.then(
      (values) => values.map((value) => ({ status: 'fulfilled', value }) as const),
      (reason: unknown) => many.map(() => ({ status: 'rejected', reason }) as const),
    )

  for (const step of steps) {
    const item = items[step.at ?? 0]!
    const some = [...(step.ids ?? [])]
    const { maxAge, timeout, abortAfter } = step.call ?? {}
    const controller = new AbortController()
    if (abortAfter !== undefined) {
      clock.after(abortAfter, () => controller.abort(new Error('left')))
    }
    const call = step.call && { maxAge, timeout, signal: abortAfter === undefined ? undefined : controller.signal } // prettier-ignore
    switch (step.do) {
      case 'advance':
        await clock.advance(step.ms!)
        break
      case 'outcome':
        is = step.outcome!
        break
      case 'fail':
      case 'hang':
      case 'heal':
        disturbed.add(step.at!)
        links[step.at!]![step.do]()
        break
      case 'many':
        watch(step, settled(item.getMany(some, call), some))
        break
      case 'settled':
        watch(step, item.getManySettled(some, call))
        break
      case 'one':
        watch(step, settled(item.get(some[0]!).then((row) => [row]), some)) // prettier-ignore
        break
      case 'refresh':
        for (const id of new Set(some)) {
          watch({ ...step, ids: [id] }, settled(item.refresh(id).then((row) => [row]), [id])) // prettier-ignore
        }
        break
      case 'expire':
        for (const id of some) changedAt.set(id, clock.now())
        item.expireMany(some).catch(() => {})
        break
      case 'clear':
      case 'invalidate':
      case 'set': {
        const changed = step.do === 'clear' ? keys : [...new Set(some)]
        const next = new Map(changed.map((id) => [id, (version.get(id) ?? 0) + 1]))
        for (const [id, number] of next) {
          version.set(id, number)
          changedAt.set(id, clock.now())
        }
        // A write that has not returned when another change is made may land after it.
        for (const [own, id] of setting) if (next.has(id)) late.add(own)
        const own = [...next].map(([id, number]) => [`${number}/${id}`, id] as const)
        if (step.do === 'set') for (const [name, id] of own) setting.set(name, id)
        const done =
          step.do === 'clear'
            ? item.clear()
            : step.do === 'invalidate'
              ? item.invalidateMany(some)
              : Promise.all([...next].map(([id, number]) => item.set(id, { id, version: number })))
        const over = (): void => {
          for (const [name] of own) setting.delete(name)
        }
        done.then(over, over)
        done.then(
          // When everybody has had the time to hear of it.
          () =>
            clock.after(isSlow ? 30 : 1, () => {
              for (let n = 0; n < processes; n++) {
                if (disturbed.size > 0 && n !== step.at) continue
                for (const [id, number] of next) {
                  const here = `${n}/${id}`
                  least.set(here, Math.max(least.get(here) ?? 0, number))
                }
              }
            }),
          () => {},
        )
      }
    }
  }
  for (const link of links) link.heal()
  is = 'rows'
  await clock.advance(2 * boundMs)
  if (pending.size > 0) told(`${pending.size} calls hang`)
  await clock.advance('20s') // every remembered failure and abandoned run is over
  for (const cache of caches) {
    const { running: count, queued } = cache.health().loads
    if (count > 0 || queued > 0) told(`${count} loads run and ${queued} wait at the end`)
  }
  // Whatever happened, every key can be had.
  for (const [n, item] of items.entries()) {
    const call = { ids: keys, at: n, do: 'many' } as const
    watch(call, settled(item.getMany(keys), keys))
    await clock.advance(2 * boundMs)
  }
  if (pending.size > 0) told(`${pending.size} calls hang at the end`)
  expect(found).toEqual([])
  for (const cache of caches) {
    const closing = cache.close()
    await clock.advance('6s')
    await closing
  }
}

/** Requests, replies and messages each take 0 to 5 ms; messages of one sender keep their order. */
function slowStore(inner: Store, clock: Clock, seed: number): Store {
  let state = seed
  const delay = (): number => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return (state >>> 16) % 6
  }
  const wait = (): Promise<void> => new Promise((resolve) => void clock.after(delay(), resolve))
  const operations = ['read', 'readMany', 'acquire', 'publish', 'touch', 'renew', 'release', 'fail', 'invalidate', 'expire', 'write', 'epochs', 'bump', 'beat'] as const // prettier-ignore
  const slow: StorePort = {
    ...(inner as StorePort),
    [port]: 'store',
    open(scope) {
      let last = Promise.resolve()
      const onMessage = (message: BusMessage): void => {
        const arrives = wait()
        last = last.then(() => arrives).then(() => scope.onMessage(message))
      }
      const session = (inner as StorePort).open({ ...scope, onMessage })
      const wrapped = Object.create(session) as Record<string, unknown>
      for (const name of ['isRefusal', 'isReply', 'received', 'reconnect', 'close'] as const) {
        wrapped[name] = (session[name] as (...given: unknown[]) => unknown).bind(session)
      }
      for (const name of operations) {
        const run = session[name].bind(session) as (...given: unknown[]) => Promise<unknown>
        wrapped[name] = async (...given: unknown[]) => {
          await wait()
          const reply = await run(...given)
          await wait()
          return reply
        }
      }
      return wrapped as unknown as ReturnType<StorePort['open']>
    },
  }
  return slow
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

it.each<[string, Arbitraries, World]>([
  ['loads alone', calm, { isSlow: false, isStrict: true, places: 2 }],
  ['loads alone, on a slow network', calm, { isSlow: true, isStrict: true, places: 2 }],
  ['changes', changing, { isSlow: false, isStrict: true, places: 2 }],
  ['changes and refreshes, slowly', forced, { isSlow: true, isStrict: false, places: 2 }],
  ['all that may go wrong', storms, { isSlow: true, isStrict: false, places: 2 }],
])(
  `with %s each place has its own row, in time (seed ${seed})`,
  async (_what, kinds, world) => {
    const steps = fc.array(fc.oneof(...kinds), { minLength: 5, maxLength: 50 })
    const schedule = fc.asyncProperty(steps, fc.nat(), (all, draw) => play(all, draw, world))
    await fc.assert(schedule, { numRuns, seed, endOnFailure: false })
    expect(unhandled).toEqual([])
  },
  600_000,
)
