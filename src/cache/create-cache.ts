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
import { isFallback, withFallback } from './answer.ts'
import { digest } from './digest.ts'
import type { Engine, Source, Target } from './engine.ts'
import { makeEngine, type Environment } from './make-engine.ts'
import { closed } from './load.ts'
import { resolveCacheOptions, resolveCall, resolveDefinition, resolveEntry } from './options.ts'
import { peek } from './peek.ts'
import { read } from './read.ts'
import { makeResource } from './resource.ts'
import { given } from './values.ts'
import { change, set } from './write.ts'

export function makeCache(options: CacheOptions, environment: Environment): Cache {
  const rules = resolveCacheOptions(options, environment)
  const engine = makeEngine(rules, environment)
  const counters: Record<string, Counters> = Object.create(null)
  counters[''] = newCounters()
  const oneOff: Source = { name: '', rules: rules.entry, counters: counters[''] }
  let closing: Promise<void> | undefined

  const keyFor = (key: string): string => shortKey(oneOffKey(key), digest)

  return {
    define<Arg, Value>(definition: Definition<Arg, Value>): Resource<never, Value> {
      const resolved = resolveDefinition(rules.entry, definition as Definition<unknown, unknown>)
      const { name } = resolved.definition
      if (name in counters)
        throw invalidOption('name', 'one that is not defined yet in this cache', name)
      counters[name] = newCounters()
      const source: Source = { name, rules: resolved.rules, counters: counters[name] }
      return makeResource(engine, { definition: resolved.definition, source }) as Resource<
        never,
        Value
      >
    },

    async getOrLoad<Value>(
      key: string,
      load: LoadOnce<Value>,
      given_: EntryOptions<string, Value> & Call = {},
    ): Promise<Value> {
      if (typeof load !== 'function') throw invalidOption('load', 'a function', load)
      const { signal, timeout, maxAge, ...entry } = given_
      const source = sourceOf(entry as EntryOptions<unknown, unknown>, 'getOrLoad')
      const call = resolveCall({ signal, timeout, maxAge })
      const target: Target = { key: keyFor(key), source, load }
      const answer = await withFallback(engine, source, { key: target.key, arg: key }, () =>
        read(engine, target, call),
      )
      return (isFallback(answer) ? answer.value : given(answer.entry, source.rules)) as Value
    },

    async peek<Value>(key: string): Promise<Peek<Value>> {
      return (await peek(engine, oneOff, keyFor(key))) as Peek<Value>
    },
    async set(key, value, options = {}) {
      await set(
        engine,
        sourceOf(options as EntryOptions<unknown, unknown>, 'set'),
        keyFor(key),
        value,
      )
    },
    invalidate: async (key) => change(engine, [keyFor(key)], 'invalidate'),
    invalidateMany: async (keys) => change(engine, keys.map(keyFor), 'invalidate'),
    expire: async (key) => change(engine, [keyFor(key)], 'expire'),
    expireMany: async (keys) => change(engine, keys.map(keyFor), 'expire'),

    on: (event, listener) => engine.listeners.on(event, listener),
    counters: () => counters,
    health: () => health(engine),
    idle: () => engine.background.idle(),
    close: (how = {}) =>
      (closing ??= close(engine, durationMs(how.timeout ?? 5_000, 'close.timeout'))),
    async [Symbol.asyncDispose]() {
      await this.close()
    },
  }

  function sourceOf(options: EntryOptions<unknown, unknown>, where: string): Source {
    return { ...oneOff, rules: resolveEntry(rules.entry, options, where) }
  }
}

function health(engine: Engine): Health {
  const { store, hearing, limiter } = engine
  const now = engine.clock.now()
  const loads = { running: limiter.running, queued: limiter.queued }
  const storeState = store === undefined ? 'none' : store.isUp ? 'up' : 'down'
  const hasBus = store !== undefined && store.session.hasBus
  const bus = !hasBus ? 'none' : hearing.isDeaf(now) ? 'silent' : 'up'
  const well = storeState !== 'down' && bus !== 'silent' && engine.outbox.size === 0
  const status = engine.closed ? 'closed' : well ? 'ok' : 'degraded'
  return { status, store: storeState, bus, loads, late: [] }
}

/** Drains loads and publishes, bounded; then whoever still hangs is told, and the leases are given back. */
async function close(engine: Engine, timeoutMs: number): Promise<void> {
  engine.closed = true
  engine.memory?.clear()
  let stop: (() => void) | undefined
  const bound = new Promise<void>((resolve) => {
    stop = engine.clock.after(timeoutMs, resolve)
  })
  // Who waits for another process is told at once: no load of ours is behind it.
  for (const flight of engine.flights)
    if (flight.phase === 'wait') flight.reject(closed(flight.key))
  engine.waiters.rouseAll()
  await Promise.race([engine.background.idle(), bound])
  stop?.()
  for (const flight of engine.flights) {
    const error = closed(flight.key)
    flight.reject(error)
    flight.stop?.(error)
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
  await engine.store?.close()
  engine.listeners.clear()
}
