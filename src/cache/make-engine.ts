/** Wires the parts of one cache to each other: who is told of what. */
import { Background } from '../flight/background.ts'
import { Cooldowns } from '../flight/cooldowns.ts'
import { Flights } from '../flight/flights.ts'
import { thisContext } from '../flight/nesting.ts'
import { Waiters } from '../flight/waiters.ts'
import { seedOf } from '../core/early-refresh.ts'
import { keyLabel } from '../core/labels.ts'
import type { Clock, CodecPort, Compressions, InPieces, Memory, StorePort } from '../ports.ts'
import type { AheadFactory } from './ahead.ts'
import type { Engine } from './engine.ts'
import type { Entry } from './entry.ts'
import { Echoes, heed } from './heed.ts'
import { Hearing } from './hearing.ts'
import { limiterOf } from './limiter-of.ts'
import { Listeners } from './listeners.ts'
import { Looks } from './look.ts'
import type { CacheRules } from './options.ts'
import { Outbox } from './outbox.ts'
import { StoreAccess } from './store-access.ts'
import { atTags, everythingIsGone, kindOf, learn, redeliver, settleOn } from './tag-changes.ts'
import { Tags } from './tags.ts'
import { tokensOf } from './tokens.ts'
import type { ProcessName } from './told.ts'
import { Writes } from './writes.ts'

interface MemoryBounds {
  readonly maxEntries: number
  readonly maxBytes: number
  onDropped(entry: Entry): void
}

/** What the composition root supplies. */
export interface Environment {
  readonly clock: Clock
  /** The first is the usual one; all of them read what any of them has written. */
  readonly codecs: readonly CodecPort[]
  readonly compressions: Compressions
  turn(): Promise<void>
  slices(): InPieces['pause']
  /** Names the cache among all: 14 characters of `[A-Za-z0-9_-]`, never the same twice. */
  newId(): string
  /** The process that it is in, for who looks from outside. */
  readonly process: ProcessName
  memory(bounds: MemoryBounds): Memory<Entry>
  readonly ahead: AheadFactory
}

/** Without a bus, nothing tells this process of changes elsewhere. */
const memoryTtlWithoutBusMs = 5_000

export function makeEngine(rules: CacheRules, environment: Environment): Engine {
  const { clock } = rules
  const id = environment.newId()
  const newToken = tokensOf(id)
  const storePort = rules.enabled ? rules.store : undefined
  const detached = thisContext()
  const listeners = new Listeners(rules.namespace)
  const waiters = new Waiters()
  const common = { clock, detached }
  const onOverflow = (remembered: number): void => {
    listeners.tell('invalidationsLost', () => ({ remembered }))
    // Nobody knows any more which: so it was all of them.
    everythingIsGone(engine)
  }
  const outbox = new Outbox({
    ...common,
    isUp: (key) => engine.store!.isUp(key),
    parts: (keys) => engine.store!.parts(keys, (key) => key),
    deliver: async (keys, what) => {
      await settleOn(engine, keys.map(keyLabel))
      await engine.store!.evenSo('replay', keys[0], (session) => session[what](keys, newToken()))
    },
    onOverflow,
  })
  const tagOutbox = new Outbox({
    ...common,
    isUp: () => engine.store!.isUp(atTags),
    parts: (labels) => [labels],
    deliver: (labels, what) => redeliver(engine, labels, what),
    onOverflow,
  })
  const tags = new Tags((label) => kindOf[tagOutbox.waits(label) ?? ''])
  const hearing = new Hearing(
    {
      clock,
      onChange: (state) => {
        listeners.tell('bus', () => ({ state }))
        if (state === 'up') waiters.rouseAll()
      },
      onSilence: () => engine.store!.session.reconnect('bus'),
      onServerChange: () => {
        outbox.repeatRecent()
        tagOutbox.repeatRecent()
      },
      asks: () => {
        const { store } = engine
        if (store?.session.shards !== undefined && store.isDown(atTags)) return undefined
        return tags.request([], !tags.isCurrent(hearing.subscription))
      },
      onNews: (news, asked, subscription) => learn(engine, { news, asked, subscription }),
    },
    storePort === undefined,
  )
  const { codecs, turn, slices } = environment
  const engine: Engine = {
    namespace: rules.namespace,
    id,
    clock,
    codecs,
    turn,
    slices,
    memory:
      rules.enabled && rules.memory !== undefined
        ? environment.memory({ ...rules.memory, onDropped: (entry) => entry.place?.leave(entry) })
        : undefined,
    memoryTtlMs: rules.memory?.ttlMs ?? Infinity,
    outageTtlMs: rules.outageTtlMs,
    defaults: rules.entry,
    storeTimeoutMs: rules.storeTimeoutMs,
    store: undefined,
    hearing,
    flights: new Flights(),
    forced: new Map(),
    looks: new Looks(),
    waiters,
    cooldowns: new Cooldowns(),
    limiter: limiterOf(rules, {
      detached,
      store: () => engine.store,
      onLimit: (concurrency) => listeners.tell('limit', () => ({ concurrency })),
    }),
    background: new Background((error) => {
      listeners.tell('storeFailed', () => ({ operation: 'background', error }))
    }),
    writes: new Writes(),
    echoes: new Echoes(),
    outbox,
    tags,
    tagOutbox,
    listeners,
    companions: new Set(),
    tracers: new Set(),
    verified: undefined,
    presence: undefined,
    ahead: undefined,
    switched: new Map(),
    bigSizes: new Map(),
    seed: seedOf(clock.random()),
    newToken,
    detached,
    waitUntil: rules.waitUntil,
    changes: 0,
    remembers: rules.enabled,
    state: 'open',
  }
  if (rules.enabled)
    engine.ahead = environment.ahead.make(engine, { takesPart: rules.precompute, id })
  if (storePort !== undefined) connect(engine, rules, { id, store: storePort })
  return engine
}

function connect(
  engine: Engine,
  rules: CacheRules,
  to: { readonly id: string; readonly store: StorePort },
): void {
  const { hearing, listeners, outbox, tagOutbox, clock } = engine
  const store = new StoreAccess({
    ...to,
    namespace: rules.namespace,
    clock,
    storeTimeoutMs: rules.storeTimeoutMs,
    connectTimeoutMs: rules.connectTimeoutMs,
    detached: engine.detached,
    onMessage: (message) => heed(engine, message),
    onBus: (state) => hearing.onBus(state, beatNow),
    onEviction: (policy) => listeners.tell('eviction', () => ({ policy })),
    onFailed: (operation, error) => listeners.tell('storeFailed', () => ({ operation, error })),
    onBreaker: (state, server) => {
      listeners.tell('breaker', () => (server === undefined ? { state } : { state, server }))
      // Who waits for a push would sleep until the lease's end: asks again, and learns that it is gone.
      if (state === 'open') engine.waiters.rouseAll()
      // What was missed between the last of the recovery and now.
      else void Promise.all([outbox.drain(), tagOutbox.drain()])
    },
    beat: hearing.beat,
    recover: async (server) => {
      const keeps = (key: string): boolean => server?.keeps(key) ?? true
      const keepsTags = (): boolean => server?.keeps(atTags) ?? true
      if (server?.isAnother === true) {
        outbox.repeatRecent(keeps)
        tagOutbox.repeatRecent(keepsTags)
      }
      await Promise.all([outbox.drain(keeps), tagOutbox.drain(keepsTags)])
      hearing.recovered()
    },
    onNewServer: () => {
      outbox.repeatRecent()
      tagOutbox.repeatRecent()
      hearing.recovered()
    },
  })
  function beatNow(): Promise<unknown> {
    // In the next turn: the session may tell of its bus before `open` has returned.
    return Promise.resolve().then(() => store.beat())
  }
  engine.store = store
  if (!store.session.hasBus) {
    engine.memoryTtlMs = Math.min(engine.memoryTtlMs, memoryTtlWithoutBusMs)
  }
  hearing.start(beatNow)
}
