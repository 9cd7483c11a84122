/** Builds a cache out of its parts, and ends it. What a verb does stands in the verb's own file. */
import type {
  Cache,
  CacheOptions,
  Definition,
  EntryOptions,
  Call,
  Health,
  LoadOnce,
  Peek,
  Resource,
} from '../api.ts'
import { invalidOption } from '../core/errors.ts'
import { durationMs } from '../core/duration.ts'
import { newCounters, type Counters } from '../core/events.ts'
import { oneOffKey, shortKey } from '../core/keys.ts'
import { everything } from '../core/labels.ts'
import { answered, isStandIn } from './answer.ts'
import { digest } from './digest.ts'
import { addressed, changeByTag } from './addressed.ts'
import { tellEngine } from './companions.ts'
import { around, sourceOf, type Engine, type Target } from './engine.ts'
import { makeEngine, type Environment } from './make-engine.ts'
import { closed } from './load.ts'
import { modeOf, switchTo } from './modes.ts'
import {
  checkEvent,
  resolveCacheOptions,
  resolveClose,
  resolveDefinition,
  resolveEntry,
  resolveOneOff,
  resolveSettle,
} from './options.ts'
import { peek } from './peek.ts'
import { Presence } from './presence.ts'
import { read } from './read.ts'
import { aheadOf, makeResource } from './resource.ts'
import { given } from './values.ts'
import { sampling } from './verify.ts'
import { set } from './set.ts'

export function makeCache(options: CacheOptions, environment: Environment): Cache {
  const rules = resolveCacheOptions(options, environment)
  const engine = makeEngine(rules, environment)
  const counters: Record<string, Counters> = Object.create(null)
  counters[''] = newCounters()
  const oneOff = sourceOf('', rules.entry, counters[''])
  const sample = sampling(engine)
  engine.presence = new Presence(engine, {
    process: environment.process,
    counters,
    health: () => health(engine),
  })
  let closing: Promise<void> | undefined

  const keyFor = (key: string): string => shortKey(oneOffKey(key), digest)

  const cache: Cache = {
    namespace: engine.namespace,
    define<Arg, Value>(definition: Definition<Arg, Value>): Resource<never, Value> {
      const resolved = resolveDefinition(
        rules.entry,
        definition as Definition<unknown, unknown>,
        environment.ahead.cron,
      )
      const { name } = resolved.definition
      if (name in counters)
        throw invalidOption('name', 'one that is not defined yet in this cache', name)
      counters[name] = newCounters()
      const source = sourceOf(name, resolved.rules, counters[name], resolved.guard)
      const resource = makeResource(engine, { definition: resolved.definition, source })
      if (source.rules.precompute !== undefined) {
        engine.ahead?.add(aheadOf(resolved.definition, source))
      }
      return resource as Resource<never, Value>
    },

    async getOrLoad<Value>(
      key: string,
      load: LoadOnce<Value>,
      options?: EntryOptions<string, Value> & Call,
    ): Promise<Value> {
      if (typeof load !== 'function') throw invalidOption('load', 'a function', load)
      const { rules: own, call } = resolveOneOff(rules.entry, options)
      const usual = own === rules.entry ? oneOff : sourceOf('', own, oneOff.counters)
      const source = modeOf(engine, usual) === 'bypass' ? around(usual) : usual
      const target: Target = { key: keyFor(key), source, arg: key, load }
      const asked = { source, key: target.key, arg: key, call }
      const answer = await answered(engine, asked, () => read(engine, target, call))
      if (isStandIn(answer)) return answer.value as Value
      if (answer.outcome === 'hit') sample(target, answer.entry)
      return given(answer.entry, own) as Value
    },

    async peek<Value>(key: string): Promise<Peek<Value>> {
      return (await peek(engine, oneOff, keyFor(key))) as Peek<Value>
    },
    async set(key, value, options) {
      const own =
        options === undefined
          ? rules.entry
          : resolveEntry(rules.entry, options as EntryOptions<unknown, unknown>, 'set')
      const at = { key: keyFor(key), arg: key }
      await set(engine, sourceOf('', own, oneOff.counters), at, value)
    },
    ...addressed(engine, { keyFor, counters: oneOff.counters, all: everything, name: undefined }),
    invalidateTags: async (tags, options) => {
      const settleMs = resolveSettle(options)
      await changeByTag(engine, tags, { what: 'invalidate', settleMs })
    },
    expireTags: async (tags) => changeByTag(engine, tags, { what: 'expire', settleMs: 0 }),

    on: (event, listener) => {
      checkEvent(event, listener)
      return engine.listeners.on(event, listener)
    },
    switchTo: (mode) => switchTo(engine, undefined, mode),
    counters: () => {
      const copy: Record<string, Counters> = Object.create(null)
      for (const name in counters) copy[name] = { ...counters[name]! }
      return copy
    },
    health: () => health(engine),
    idle: () => engine.background.idle(),
    close: (how) => {
      if (closing !== undefined) return closing
      try {
        const { timeout = '5s' } = resolveClose(how)
        closing = close(engine, durationMs(timeout, 'close.timeout', { allowZero: true }))
        return closing
      } catch (error) {
        return Promise.reject(error)
      }
    },
    async [Symbol.asyncDispose]() {
      await cache.close()
    },
  }
  tellEngine(cache, engine)
  return cache
}

function health(engine: Engine): Health {
  const { store, hearing, limiter, memory: held } = engine
  const now = engine.clock.now()
  const { running, queued, abandoned } = limiter
  const loads = { running, queued }
  const limit = { concurrency: limiter.limit, abandoned }
  const memory = {
    entries: held?.entries ?? 0,
    bytes: held?.bytes ?? 0,
    evicted: held?.evicted ?? 0,
  }
  const storeState = store === undefined ? 'none' : store.up === 'none' ? 'down' : 'up'
  const hasBus = store !== undefined && store.session.hasBus
  const bus = !hasBus ? 'none' : hearing.hears(now) ? 'up' : 'silent'
  const told = [...engine.companions].map((companion) => companion.health?.(now) ?? {})
  const isWhole = store === undefined || store.up === 'all'
  const isOwed = engine.outbox.size + engine.tagOutbox.size > 0
  const areWell = told.every(({ isWell }) => isWell !== false)
  const well = isWhole && bus !== 'silent' && !isOwed && areWell
  const status = engine.state !== 'open' ? 'closed' : well ? 'ok' : 'degraded'
  const late = told.flatMap((one) => one.late ?? [])
  const changes = told.flatMap((one) => one.changes ?? [])
  const breakersOpen = store?.down ?? 0
  return { status, store: storeState, bus, breakersOpen, loads, limit, memory, late, changes }
}

/**
 * Drains loads, publishes and what the store has missed, bounded; then whoever still hangs is told,
 * and the leases are given back.
 */
async function close(engine: Engine, timeoutMs: number): Promise<void> {
  engine.state = 'draining'
  engine.memory?.clear()
  let stop: (() => void) | undefined
  const bound = new Promise<void>((resolve) => {
    stop = engine.clock.after(timeoutMs, resolve)
  })
  // Refreshes that only wait for other processes have nobody to answer.
  for (const flight of engine.flights) {
    if (flight.isBackground && flight.phase === 'wait') flight.controls.abandoned?.()
  }
  const companions = [...engine.companions].map(async (companion) => companion.close())
  await Promise.race([Promise.allSettled(companions), bound])
  await Promise.race([Promise.all([sendMissed(engine), engine.background.idle()]), bound])
  stop?.()
  engine.state = 'closed'
  engine.waiters.rouseAll()
  for (const flight of engine.flights) {
    const error = closed(flight.key)
    flight.reject(error)
    flight.controls.stop?.(error)
  }
  // What the aborts have set off (leases given back) still goes out.
  await new Promise<void>((resolve) => {
    const last = engine.clock.after(engine.storeTimeoutMs, resolve)
    void engine.background.idle().then(() => {
      last()
      resolve()
    })
  })
  engine.hearing.stop()
  engine.presence?.close()
  engine.limiter.close()
  engine.outbox.close()
  engine.tagOutbox.close()
  await engine.store?.close()
  engine.listeners.clear()
}

/** Once more, although the breaker may be open still: nobody else knows of these changes. */
async function sendMissed({ outbox, tagOutbox }: Engine): Promise<void> {
  await Promise.all([outbox.drain(() => true), tagOutbox.drain(() => true)])
}
