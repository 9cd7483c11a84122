// Random schedules of three processes in virtual time, as in coherence/model.test.ts, with changes
// by tag beside those of keys. A value is the source's version when its load began. After a change
// has returned in a process, or was heard there (by a message, or by news that it asked for), no
// call that begins later gets a value of before. And values are kept: when all is calm, every
// process gets the newest, and soon nobody loads any more.
//
// A failure prints its seed (MODEL_SEED) and the shortest schedule that fails.

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createCache, type EntryDefaults, type LoadContext } from '../../src/index.ts'
import type { BumpRequest, BusMessage, Token } from '../../src/ports.ts'
import { manualClock, memoryStore } from '../../src/testing/index.ts'
import { gatedStore, type Common } from '../support/gated-store.ts'
import { SmallTags } from '../support/small-tags.ts'
import {
  keys,
  schedules,
  worlds,
  type Key,
  type Step,
  type World,
} from '../support/tag-schedules.ts'

type Entry = EntryDefaults & { memory?: boolean; store?: boolean; computed?: boolean }
const shapes: Record<string, Entry> = {
  'no windows': { ttl: '60s' },
  'windows and a soft timeout': {
    ttl: '1s',
    staleWhileRevalidate: '2s',
    staleIfError: '1h',
    softTimeout: '50ms',
    computed: true,
  },
  'no memory': { ttl: '20s', staleWhileRevalidate: '2s', staleIfError: '1h', memory: false },
  copies: { ttl: '60s', values: 'clone', computed: true },
  'memory only': { ttl: '60s', staleIfError: '1h', store: false },
}

interface Row {
  readonly v: number
}

async function run(schedule: readonly Step[], shape: Entry, world: World): Promise<void> {
  const { computed = false, ...entry } = shape
  const clock = manualClock()
  const tags = new SmallTags(world.most)
  const common: Common = { inner: memoryStore(), tags, scopes: new Set(), now: () => clock.now() }
  const version: Record<Key, number> = { a: 1, b: 1 }
  /** What changes by tag that the store has taken from others have ended, for each process. */
  const ended = [0, 1, 2].map((): Record<Key, number> => ({ a: 0, b: 0 }))
  const setting: Record<Key, number> = { a: 0, b: 0 }
  const loads: { end(): void; fail(): void }[] = []
  const faults: string[] = []
  const open: Promise<unknown>[] = []
  let loaded = 0
  let quick = false

  const reachedBy = (labels: readonly string[]): Key[] =>
    keys.filter((key) => labels.some((one) => ['@*', '@r:item', 'all', `own ${key}`].includes(one)))

  const members = [0, 1, 2].map((p) => {
    const floor: Record<Key, number> = { a: 0, b: 0 }
    /** No news: others may have changed the source since, and not told it yet. */
    const own = new Set<Token>()
    const raise = (to: Partial<Record<Key, number>>): void => {
      for (const key of keys) floor[key] = Math.max(floor[key], to[key] ?? 0)
    }
    const link = gatedStore(common, {
      done: (operation, args, at) => {
        if (operation === 'invalidate' || operation === 'expire') own.add(args[1] as Token)
        if (operation === 'bump') {
          const { kind, labels } = args[0] as BumpRequest
          const reached = kind === 'gone' ? reachedBy(labels) : []
          for (const of of ended) {
            if (of !== ended[p]) for (const key of reached) of[key] = version[key]
          }
        }
        if (operation !== 'epochs') return undefined
        const told = { ...ended[p] }
        // One that came too late was not listened to.
        return () => clock.now() - at < 1_000 && raise(told)
      },
      sent: (message: BusMessage) => {
        let told: Partial<Record<Key, number>> = {}
        if (message.type === 'bumped' && message.kind === 'gone') {
          told = Object.fromEntries(reachedBy(message.labels).map((key) => [key, ended[p]![key]]))
        } else if (message.type === 'invalidated' && !own.has(message.id)) {
          const key = message.key.slice(-1) as Key
          told = { [key]: version[key] }
        }
        return () => raise(told)
      },
    })
    const cache = createCache({
      namespace: 'model',
      ttl: '60s',
      storeTimeout: '1s',
      loadTimeout: '1h',
      waitTimeout: '30m',
      clock,
      store: link,
    })
    const item = cache.define({
      name: 'item',
      load: (key: Key, ctx: LoadContext<Row>) => {
        loaded++
        const v = version[key]
        const before = ctx.previous?.value.v
        if (before !== undefined && before < floor[key]) {
          faults.push(`p${p} ${key}: previous ${before}, below ${floor[key]}`)
        }
        if (!computed) ctx.tags(`own ${key}`)
        if (quick) return { v }
        return new Promise<Row>((resolve, reject) => {
          loads.push({ end: () => resolve({ v }), fail: () => reject(new Error(`at ${v}`)) })
        })
      },
      tags: computed ? (_, key) => ['all', `own ${key}`] : ['all'],
      ...entry,
    })
    return { p, floor, raise, link, cache, item }
  })
  await clock.advance(10)

  type Member = (typeof members)[number]
  const judge = (member: Member, key: Key, v: number, least: number, what: string): void => {
    if (v < least) faults.push(`${what}: p${member.p} ${key} ${v}, below ${least}`)
  }
  const ask = (member: Member, key: Key, how: 'get' | 'refresh', at: number): void => {
    const least = member.floor[key]
    const call = member.item[how](key).then(
      ({ v }) => judge(member, key, v, least, `step ${at} ${how}`),
      () => {},
    )
    open.push(call)
  }
  const change = (member: Member, reached: readonly Key[], make: () => Promise<void>): void => {
    const then: Partial<Record<Key, number>> = {}
    for (const key of reached) then[key] = ++version[key]
    const raise = (): void => member.raise(then)
    open.push(make().then(raise, raise))
  }
  const perform = (one: Step, at: number): void => {
    const member = members[one.p ?? 0]!
    const { item, cache, link } = member
    const key = one.k ?? 'a'
    const label = one.tag === 'own' ? `own ${key}` : (one.tag ?? 'all')
    switch (one.do) {
      case 'get':
      case 'refresh':
        return ask(member, key, one.do, at)
      case 'getMany': {
        const least = { ...member.floor }
        const call = item.getMany(keys).then(
          (rows) => {
            for (const [n, of] of keys.entries()) {
              judge(member, of, rows[n]!.v, least[of], `step ${at} getMany`)
            }
          },
          () => {},
        )
        return void open.push(call)
      }
      case 'peek': {
        const least = member.floor[key]
        const call = item.peek(key).then((seen) => {
          if (seen.state !== 'missing') judge(member, key, seen.value.v, least, `step ${at} peek`)
        })
        return void open.push(call)
      }
      case 'invalidateTags':
        return change(member, reachedBy([label]), () => cache.invalidateTags([label, 'x', 'y']))
      case 'clear':
        return change(member, keys, () => cache.clear())
      case 'clearItem':
        return change(member, keys, () => item.clear())
      case 'expireTags':
        return void open.push(cache.expireTags([label, 'z']).catch(() => {}))
      case 'expireAll':
        return void open.push(item.expireAll().catch(() => {}))
      case 'expire':
        return void open.push(item.expire(key).catch(() => {}))
      case 'invalidate':
        // A set that is under way may come after it.
        if (setting[key] === 0) change(member, [key], () => item.invalidate(key))
        return
      case 'set':
        if (setting[key]++ === 0) {
          change(member, [key], () =>
            item
              .set(key, { v: version[key] }, { tags: ['all', `own ${key}`] })
              .finally(() => (setting[key] = 0)),
          )
        }
        return
      case 'end':
      case 'fail': {
        const [load] = loads.splice(one.n! % Math.max(1, loads.length), 1)
        return one.do === 'end' ? load?.end() : load?.fail()
      }
      case 'holdReplies':
        return link.hold('replies', one.what!)
      case 'holdRequests':
        return link.hold('requests', one.what!)
      case 'open':
        link.release('requests', one.what!)
        return link.release('replies', one.what!)
      case 'holdBus':
        return link.holdBus()
      case 'releaseBus':
        return link.releaseBus()
      case 'loseBus':
        return link.loseBus()
      case 'severBus':
        return link.loseBus(true)
      case 'regainBus':
        return link.regainBus()
      case 'failBefore':
        return void (link.failing = 'before')
      case 'failAfter':
        return void (link.failing = 'after')
      case 'heal':
        return void (link.failing = undefined)
      case 'loseTags':
        return tags.lose()
      case 'quickLoads':
      case 'slowLoads':
        return void (quick = one.do === 'quickLoads')
      case 'pass':
    }
  }
  for (const [at, one] of schedule.entries()) {
    perform(one, at)
    await clock.advance(one.do === 'pass' ? one.ms! : 0)
  }

  // Everything arrives, and every load ends.
  for (const { link } of members) {
    link.failing = undefined
    link.releaseAll()
    link.regainBus()
  }
  for (let n = 0; n < 60; n++) {
    await clock.advance(250)
    for (const load of loads.splice(0)) load.end()
  }
  let unsettled = true
  void Promise.allSettled(open).then(() => (unsettled = false))
  await clock.advance(10)
  if (unsettled) faults.push('a call never settled')
  for (const { cache, p } of members) {
    if (cache.health().status !== 'ok') faults.push(`p${p}: ${JSON.stringify(cache.health())}`)
  }
  // Then everyone gets the newest, and what has been loaded once is kept.
  for (const round of [1, 2, 3]) {
    const before = loaded
    for (const member of members) {
      for (const key of keys) {
        const call = member.item.get(key)
        for (let n = 0; n < 5; n++) {
          await clock.advance(0)
          for (const load of loads.splice(0)) load.end()
        }
        judge(member, key, (await call).v, version[key], `round ${round}`)
      }
    }
    if (round === 3 && loaded > before) faults.push(`${loaded - before} loads of what was kept`)
  }
  expect(faults).toEqual([])
}

const runs = Number(process.env['MODEL_RUNS'] ?? 25)
const seed = process.env['MODEL_SEED'] === undefined ? undefined : Number(process.env['MODEL_SEED'])

describe.each(Object.entries(worlds))('changes by tag: %s', (_name, world) => {
  it.each(Object.entries(shapes))(
    'nobody is answered with what a change had ended: %s',
    { timeout: 3_600_000 },
    async (_, shape) => {
      await fc.assert(
        fc.asyncProperty(schedules(world), (schedule) => run(schedule.flat(), shape, world)),
        { numRuns: runs, ...(seed === undefined ? {} : { seed }) },
      )
    },
  )
})
