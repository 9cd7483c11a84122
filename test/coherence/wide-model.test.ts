// As model.test.ts, wider: every outcome of a loader, impatient callers, nested loads,
// peeks, skewed clocks, a bus that is lost and comes back, stores that fail and hang; looked for:
// versions below the floor, results of noStore and private loads given to others, calls that
// hang, places and timers left behind, unhandled rejections.

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createCache, type EntryDefaults, type LoadContext } from '../../src/index.ts'
import { port, type BusMessage, type Clock, type Store, type StorePort } from '../../src/ports.ts'
import { faultyStore, manualClock, memoryStore } from '../../src/testing/index.ts'
import { heldStore } from '../support/held-store.ts'

const keys = ['a', 'b'] as const
type Key = (typeof keys)[number]
const held = ['read', 'acquire', 'publish', 'invalidate', 'write', 'fail'] as const
const where = {
  p: fc.constantFrom(0, 0, 0, 1, 1, 1, 2),
  k: fc.constantFrom<Key>('a', 'a', 'a', 'a', 'b'),
}
const of = <T extends string>(...what: T[]): fc.Arbitrary<T> => fc.constantFrom(...what)
const endings = [
  'value',
  'value',
  'value',
  'fail',
  'noStore',
  'private',
  'ttl0',
  'same',
  'short',
] as const

const steps = {
  calm: [
    { weight: 8, arbitrary: fc.record({ do: of('get', 'get', 'get', 'outer', 'peek'), ...where }) },
    {
      weight: 3,
      arbitrary: fc.record({
        do: of('get'),
        ...where,
        timeout: fc.option(fc.constantFrom(0, 20, 500), { nil: undefined }),
        maxAge: fc.option(fc.constantFrom(0, 100, 5_000), { nil: undefined }),
        abort: fc.option(fc.constantFrom(0, 5, 300), { nil: undefined }),
      }),
    },
    { weight: 3, arbitrary: fc.record({ do: of('invalidate'), ...where }) },
    { weight: 1, arbitrary: fc.record({ do: of('set', 'expire', 'refresh'), ...where }) },
    {
      weight: 6,
      arbitrary: fc.record({ do: of('end'), n: fc.nat(1), how: fc.constantFrom(...endings) }),
    },
    {
      weight: 2,
      arbitrary: fc.record({ do: of('pass'), ms: fc.constantFrom(1, 60, 400, 1_100, 4_000) }),
    },
    {
      weight: 2,
      arbitrary: fc.record({
        do: of('hold', 'release', 'release'),
        what: fc.constantFrom(...held),
        p: where.p,
      }),
    },
    { weight: 3, arbitrary: fc.record({ do: of('holdBus', 'releaseBus'), p: where.p }) },
  ],
  storms: [
    {
      weight: 1,
      arbitrary: fc.record({ do: of('loseBus', 'regainBus', 'regainBus'), p: where.p }),
    },
    {
      weight: 2,
      arbitrary: fc.record({ do: of('storeFails', 'storeHangs', 'heal', 'heal'), p: where.p }),
    },
  ],
}
interface Step {
  do: string
  p?: number
  k?: Key
  n?: number
  ms?: number
  what?: (typeof held)[number]
  how?: (typeof endings)[number]
  timeout?: number
  maxAge?: number
  abort?: number
}

const rules: Record<string, EntryDefaults & { memory?: boolean; store?: boolean }> = {
  'no windows': { ttl: '60s' },
  windows: { ttl: '1s', staleWhileRevalidate: '2s', staleIfError: '1h', softTimeout: '50ms' },
  'no memory': { ttl: '1s', staleWhileRevalidate: '2s', staleIfError: '1h', memory: false },
  'remembered failures': { ttl: '60s', errorTtl: '10s' },
  copies: { ttl: '2s', staleIfError: '1h', values: 'clone' },
  'not in the store': { ttl: '2s', staleWhileRevalidate: '5s', store: false },
}

interface Row {
  v: number
  id: number
}

interface World {
  readonly storeless: boolean
  readonly skew: readonly number[]
  readonly disturbed: boolean
}

async function run(schedule: readonly Step[], entry: EntryDefaults, world: World): Promise<void> {
  const base = manualClock()
  const version: Record<Key, number> = { a: 1, b: 1 }
  const loads: { p: number; end(how: (typeof endings)[number]): void }[] = []
  const faults: string[] = []
  const open: Promise<unknown>[] = []
  const once = new Map<number, number>() // private loads: who got it
  const endedAt = new Map<number, number>() // noStore loads
  let ids = 0
  let stepAt = 0
  const inner = memoryStore() as StorePort
  const store: Store = {
    [port]: 'store',
    open: (scope) =>
      inner.open({
        ...scope,
        clock: base,
        // With the version of when it was sent: it may be held back on its way.
        onMessage: (message) => {
          const at = 'key' in message ? version[message.key.slice(-1) as Key] : 0
          scope.onMessage(Object.assign({ ...message }, { at }))
        },
      }),
  } as StorePort
  const members = [0, 1, 2].map((p) => {
    const floor: Record<Key, number> = { a: 0, b: 0 }
    const faulty = faultyStore(store)
    const link = heldStore(faulty, (message: BusMessage) => {
      if (message.type !== 'invalidated' && message.type !== 'written') return undefined
      if (!message.key.includes('item')) return undefined
      const key = message.key.slice(-1) as Key
      const { at } = message as BusMessage & { at: number }
      return () => {
        floor[key] = Math.max(floor[key], at)
      }
    })
    const skew = world.skew[p] ?? 0
    const clock: Clock = { ...base, now: () => base.now() + skew }
    const cache = createCache({
      namespace: 'model',
      ttl: '60s',
      storeTimeout: world.disturbed ? '100ms' : '1h',
      loadTimeout: '8s',
      waitTimeout: '6s',
      limit: { concurrency: 4, queue: '2s' },
      uncacheableFor: '500ms',
      clock,
      ...(world.storeless ? {} : { store: link }),
    })
    const item = cache.define({
      name: 'item',
      load: (key: Key, ctx: LoadContext) => {
        const began = version[key]
        const id = ++ids
        const before = (ctx.previous?.value as Row | undefined)?.v
        if (before !== undefined && before < floor[key]) {
          faults.push(`step ${stepAt}, p${p} ${key}: previous ${before}, below ${floor[key]}`)
        }
        return new Promise<Row>((resolve, reject) => {
          loads.push({
            p,
            end(how) {
              if (how === 'noStore') ctx.noStore()
              if (how === 'private') {
                ctx.private()
                once.set(id, 0)
              }
              if (how === 'ttl0') ctx.ttl(0)
              if (how === 'short') ctx.ttl(300)
              if (how === 'noStore' || how === 'ttl0') endedAt.set(id, stepAt)
              if (how === 'fail') reject(Object.assign(new Error('no'), { code: `V${began}` }))
              else if (how === 'same' && before === began) resolve(ctx.notModified() as never)
              else resolve({ v: began, id })
            },
          })
        })
      },
      ...entry,
    })
    const outer = cache.define({
      name: 'outer',
      load: async (key: Key) => {
        await item.get(key)
        return 'outer'
      },
      ttl: '500ms',
    })
    return { p, floor, link, faulty, item, outer, cache, closed: false }
  })
  await base.advance(10)

  type Member = (typeof members)[number]
  const failures = [
    'LOAD_FAILED_ELSEWHERE',
    'STORE_UNAVAILABLE',
    'LOAD_TIMEOUT',
    'WAIT_TIMEOUT',
    'OVERLOADED',
  ]
  const tolerate = (at: number, error: { code?: string; message?: string }, member: Member) => {
    if (error.message === 'left') return
    if (error.code === 'CLOSED' && member.closed) return
    if (failures.includes(error.code ?? '')) return
    faults.push(`step ${at}, p${member.p}: ${String(error)} ${error.code}`)
  }
  const ask = (member: Member, one: Step, at: number): void => {
    const key = one.k!
    const least = member.floor[key]
    const judge = (got: number, what: string): void => {
      if (got >= least) return
      faults.push(`step ${at}, p${member.p} ${one.do} ${key}: ${what} ${got}, below ${least}`)
    }
    const controller = new AbortController()
    if (one.abort !== undefined) base.after(one.abort, () => controller.abort(new Error('left')))
    const call = {
      timeout: one.timeout,
      maxAge: one.maxAge,
      signal: one.abort === undefined ? undefined : controller.signal,
    }
    const how = one.do as 'get' | 'refresh'
    open.push(
      member.item[how](key, call).then(
        (row) => {
          judge(row.v, 'value')
          const got = once.get(row.id)
          if (got !== undefined) {
            once.set(row.id, got + 1)
            if (got > 0) faults.push(`step ${at}: private load ${row.id} given twice`)
          }
          const ended = endedAt.get(row.id)
          if (ended !== undefined && ended < at) {
            faults.push(`step ${at}: load ${row.id} was not to be stored, ended at step ${ended}`)
          }
        },
        (error: { code?: string; remote?: { code?: string } }) => {
          const began = /^V(\d+)$/.exec(error.remote?.code ?? error.code ?? '')?.[1]
          if (began === undefined) tolerate(at, error, member)
          else judge(Number(began), 'failure')
        },
      ),
    )
  }
  const perform = (one: Step, at: number): void => {
    const member = members[one.p ?? 0]!
    switch (one.do) {
      case 'get':
      case 'refresh':
        return ask(member, one, at)
      case 'outer':
        open.push(
          member.outer.get(one.k!).catch((error: { code?: string }) => {
            if (!/^V\d+$/.test(error.code ?? '') && error.code !== 'LOAD_FAILED_ELSEWHERE')
              tolerate(at, error, member)
          }),
        )
        return
      case 'peek': {
        const least = member.floor[one.k!]
        open.push(
          member.item.peek(one.k!).then(
            (seen) => {
              if (seen.state === 'missing') return
              if (seen.value.v < least)
                faults.push(`step ${at}: p${member.p} peeks ${seen.value.v}, below ${least}`)
            },
            (error) => tolerate(at, error, member),
          ),
        )
        return
      }
      case 'invalidate':
      case 'set': {
        const { floor, item } = member
        const then = ++version[one.k!]
        const set = one.do === 'set' && !world.disturbed
        const done = set ? item.set(one.k!, { v: then, id: 0 }) : item.invalidate(one.k!)
        const raise = (): void => {
          floor[one.k!] = Math.max(floor[one.k!], then)
        }
        open.push(
          done.then(raise, (error) => {
            tolerate(at, error, member)
            if (!member.closed) raise()
          }),
        )
        return
      }
      case 'expire':
        open.push(member.item.expire(one.k!).catch((error) => tolerate(at, error, member)))
        return
      case 'end': {
        const [load] = loads.splice(one.n! % Math.max(1, loads.length), 1)
        return load?.end(one.how!)
      }
      case 'hold':
        return member.link.holdReplies(one.what!)
      case 'release':
        return member.link.releaseReplies(one.what!)
      case 'holdBus':
        return member.link.holdBus()
      case 'releaseBus':
        return member.link.releaseBus()
      case 'loseBus':
        return member.link.loseBus()
      case 'regainBus':
        return member.link.regainBus()
      case 'storeFails':
        return member.faulty.fail()
      case 'storeHangs':
        return member.faulty.hang()
      case 'heal':
        return member.faulty.heal()
      case 'pass':
    }
  }
  for (const [at, one] of schedule.entries()) {
    stepAt = at
    perform(one, at)
    await base.advance(one.do === 'pass' ? one.ms! : 0)
  }
  stepAt = schedule.length
  for (const { link, faulty } of members) {
    for (const what of held) link.releaseReplies(what)
    link.releaseBus()
    faulty.heal()
    link.regainBus()
  }
  for (let n = 0; n < 80; n++) {
    await base.advance(500)
    for (const load of loads.splice(0)) load.end('value')
  }
  let unsettled = true
  void Promise.allSettled(open).then(() => (unsettled = false))
  await base.advance(10)
  if (unsettled) faults.push('a call never settled')
  for (const { cache, p } of members) {
    const { loads: now, status } = cache.health()
    if (now.running + now.queued > 0) faults.push(`p${p}: ${JSON.stringify(now)}`)
    if (status !== 'ok') faults.push(`p${p}: ${JSON.stringify(cache.health())}`)
    const closing = cache.close()
    await base.advance('6s')
    await closing
  }
  expect(faults).toEqual([])
}

const runs = Number(process.env['MODEL_RUNS'] ?? 50)
const seed = process.env['MODEL_SEED'] === undefined ? undefined : Number(process.env['MODEL_SEED'])
const minute = 60_000
const worlds: Record<string, World> = {
  'one process': { storeless: true, skew: [], disturbed: false },
  'clocks apart': { storeless: false, skew: [0, 10 * minute, -10 * minute], disturbed: false },
  storms: { storeless: false, skew: [0, 0, 0], disturbed: true },
}

describe.each(Object.entries(worlds))('%s', (_name, world) => {
  it.each(Object.entries(rules))('%s', { timeout: 600_000 }, async (_, entry) => {
    const unhandled: unknown[] = []
    const onUnhandled = (reason: unknown): void => void unhandled.push(reason)
    process.on('unhandledRejection', onUnhandled)
    const kinds = world.disturbed ? [...steps.calm, ...steps.storms] : steps.calm
    try {
      await fc.assert(
        fc.asyncProperty(
          fc.array(fc.oneof(...kinds) as fc.Arbitrary<Step>, {
            minLength: 8,
            maxLength: 70,
            size: 'max',
          }),
          (schedule) => run(schedule, entry, world),
        ),
        { numRuns: runs, ...(seed === undefined ? {} : { seed }) },
      )
      expect(unhandled).toEqual([])
    } finally {
      process.off('unhandledRejection', onUnhandled)
    }
  })
})
