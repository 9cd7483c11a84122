/**
 * What `define` gives: one kind of entry, addressed by its argument. `get` is the hot path: a hit
 * in memory derives the key, compares two instants and adds to a counter, and waits for nobody.
 */
import type { Call, LoadContext, Lookup, Peek, Resource } from '../api.ts'
import type { EntryRules, ResolvedCall, ResolvedDefinition } from './options.ts'
import { addressed } from './addressed.ts'
import type { AheadDefinition } from './ahead.ts'
import { answered, countRefused, isStandIn, type StandIn } from './answer.ts'
import { around, usesMemory, type Answer, type Engine, type Source, type Target } from './engine.ts'
import { countStale } from './count.ts'
import { instants, type Entry } from './entry.ts'
import { holds, isTrusted } from './keep.ts'
import { listOf } from './list-of.ts'
import { startRefresh } from './refresh.ts'
import { decide } from '../core/decide.ts'
import type { Outcome } from '../core/events.ts'
import { resourcePrefix } from '../core/keys.ts'
import { resourceLabel } from '../core/labels.ts'
import type { Seat } from './batch.ts'
import { getMany, isPending, nothing, settleMany, valueOf, type Asking } from './get-many.ts'
import type { Found } from './look.ts'
import { modeOf, switchTo } from './modes.ts'
import { peek } from './peek.ts'
import { placeOf, type Place } from './places.ts'
import { resolveCall, resolveEntry } from './options.ts'
import { refresh } from './forced.ts'
import { canLookFirst, read, readFound } from './read.ts'
import { given } from './values.ts'
import { set } from './set.ts'
import { samplerOf } from './verify.ts'

export interface ResourceInit {
  readonly definition: ResolvedDefinition['definition']
  readonly source: Source
}

type Reading = Pick<
  Resource<unknown, unknown>,
  'get' | 'lookup' | 'refresh' | 'getMany' | 'getManySettled'
>

export function makeResource(engine: Engine, init: ResourceInit): Resource<unknown, unknown> {
  const { definition, source } = init
  const { name } = definition
  const { rules, counters } = source
  const placeFor = placeOf(definition)
  const keyFor = (arg: unknown): string => placeFor(arg).key
  const usual = readingOf(engine, init, placeFor)
  const { get: getUsually } = usual
  const { switched } = engine
  const isUsual = rules.mode === 'normal'
  let bypassing: Reading | undefined
  const now = (): Reading => {
    if (modeOf(engine, source) !== 'bypass') return usual
    return (bypassing ??= readingOf(engine, { definition, source: around(source) }, placeFor))
  }
  return {
    name,
    key: keyFor,
    // The hot path: nothing is switched, most of the time.
    get: (arg, call) =>
      switched.size === 0 && isUsual ? getUsually(arg, call) : now().get(arg, call),
    lookup: (arg, call) => now().lookup(arg, call),
    refresh: (arg, call) => now().refresh(arg, call),
    getMany: (args, call) => now().getMany(args, call),
    getManySettled: (args, call) => now().getManySettled(args, call),
    peek: async (arg): Promise<Peek<unknown>> => peek(engine, source, keyFor(arg)),
    set: async (arg, value, options) => {
      const key = keyFor(arg)
      const own = options === undefined ? rules : resolveEntry(rules, options, `${name}.set`)
      // What is written exists. A guard that cannot be told by now tells itself later.
      const exists = value !== null && value !== undefined
      const told = exists ? source.guard?.add(arg).catch(() => {}) : undefined
      await set(engine, { ...source, rules: own }, { key, arg }, value)
      await told
    },
    switchTo: (mode) => switchTo(engine, name, mode),
    ...addressed(engine, { keyFor, counters, all: resourceLabel(name), name }),
  }
}

/** What gives values: from the tiers that this source uses, or from the loader. */
function readingOf(
  engine: Engine,
  { definition, source }: ResourceInit,
  placeFor: ReturnType<typeof placeOf>,
): Reading {
  const { name } = definition
  const { rules, counters, guard } = source
  const { clock, hearing, tags, listeners } = engine
  const memory = usesMemory(engine, rules) ? engine.memory : undefined
  const keyFor = (arg: unknown): string => placeFor(arg).key

  const targetFor = (arg: unknown, key: string): Target => ({
    key,
    source,
    arg,
    load: (ctx: LoadContext) => definition.load(arg, ctx),
  })
  const answerFrom = (
    arg: unknown,
    key: string,
    call: ResolvedCall | undefined,
    run: (target: Target) => Promise<Answer>,
  ): Promise<Answer | StandIn> =>
    answered(engine, { source, key, arg, call }, () => run(targetFor(arg, key)))
  const sampler = source.isAround ? undefined : samplerOf(engine, source)
  const sample = (entry: Entry, arg: unknown, key: string): void => {
    if (sampler?.draws(rules.verify!) === true) sampler.take(targetFor(arg, key), entry)
  }
  const valueFrom = async (...asked: Parameters<typeof answerFrom>): Promise<unknown> => {
    const answer = await answerFrom(...asked)
    if (isStandIn(answer)) return answer.value
    if (answer.outcome === 'hit') sample(answer.entry, asked[0], asked[1])
    return given(answer.entry, rules)
  }
  const counted = (entry: Entry, arg: unknown, key: string, outcome: Outcome): void => {
    if (entry.negative) counters.negative++
    if (sampler !== undefined && outcome === 'hit') sample(entry, arg, key)
    if (listeners.answer) listeners.tell('answer', () => ({ name, key, outcome }))
  }

  /** What memory answers at once, or `nothing`. */
  const fromHeld = (held: Entry, arg: unknown, key: string, seat: Seat | undefined): unknown => {
    const now = clock.now()
    const isHot = now < held.hotUntil && now < hearing.deafAt
    if (
      isHot &&
      held.values === rules.values &&
      held.trust === hearing.trust &&
      held.tick === tags.tick
    ) {
      counters.hitMemory++
      counted(held, arg, key, 'hit')
      return held.value
    }
    const isRight = isTrusted(engine, key, held, now) && holds(engine, source, held)
    const decision = isRight ? decide(held, now, rules) : 'load'
    if (decision === 'load' || held.uncacheable !== undefined) return nothing
    const refreshIsDue = decision !== 'serve' && engine.flights.current(key) === undefined
    if (refreshIsDue) startRefresh(engine, targetFor(arg, key), held, decision, seat)
    if (decision === 'stale') {
      const { freshUntil } = held
      countStale(engine, source, key, { cause: 'revalidate', tier: 'memory', freshUntil })
    } else counters.hitMemory++
    counted(held, arg, key, decision === 'stale' ? 'stale' : 'hit')
    return given(held, rules)
  }
  const fromLook = (found: Found, arg: unknown, key: string): unknown => {
    if (found.type !== 'entry' || !found.entry.isHot(clock.now())) return nothing
    counters.hitStore++
    counted(found.entry, arg, key, 'hit')
    return given(found.entry, rules)
  }

  const get = (arg: unknown, call?: Call): Promise<unknown> => {
    let place: Place
    let wants: ResolvedCall | undefined
    try {
      place = placeFor(arg)
      wants = resolveCall(call)
    } catch (error) {
      return Promise.reject(error)
    }
    const { key } = place
    if (wants !== undefined) {
      return valueFrom(arg, key, wants, (target) => read(engine, target, wants))
    }
    const held = memory && place.held(memory)
    if (held !== undefined) {
      const value = fromHeld(held, arg, key, undefined)
      if (value !== nothing) return place.answer(held, value)
    } else if (canLookFirst(engine, source, key) && guard?.know(arg) !== false) {
      // The hot path of a hit in the store: one look that all who ask share, and no more promises.
      return engine.looks.at(engine, source, key, undefined).then((found) => {
        const value = fromLook(found, arg, key)
        if (value !== nothing) return value
        return valueFrom(arg, key, undefined, (target) => readFound(engine, target, found))
      })
    }
    return valueFrom(arg, key, undefined, (target) => read(engine, target, undefined))
  }

  const asking: Asking = {
    source,
    keyFor,
    loadMany: definition.loadMany,
    fromMemory: (arg, key, seat) => {
      const held = memory?.get(key)
      if (held !== undefined) return fromHeld(held, arg, key, seat)
      if (guard?.know(arg) !== false) return nothing
      countRefused(engine, source, key)
      return undefined
    },
    fromLook,
    load: ({ arg, key, seat }, call, found) =>
      valueFrom(arg, key, call, (target) =>
        found === undefined
          ? read(engine, target, call, seat)
          : readFound(engine, target, found, seat),
      ),
  }

  return {
    get,
    lookup: async (arg, call) => {
      const key = keyFor(arg)
      const wants = resolveCall(call)
      const answer = await answerFrom(arg, key, wants, (target) => read(engine, target, wants))
      if (isStandIn(answer)) return answer
      if (answer.outcome === 'hit') sample(answer.entry, arg, key)
      return story(answer, rules)
    },
    refresh: async (arg, call) => {
      const key = keyFor(arg)
      const wants = resolveCall(call)
      // No fallback: whoever forces a load wants to know that it failed.
      const answer = await answered(
        engine,
        { source: { ...source, rules: { ...rules, fallback: undefined } }, key, arg, call: wants },
        () => refresh(engine, targetFor(arg, key), wants),
      )
      const { entry } = answer as Answer
      // It does exist, and was not known to: nobody shall be refused it.
      if (!entry.negative && guard?.know(arg) === false) await guard.add(arg).catch(() => {})
      return given(entry, rules)
    },
    getMany: async (args, call) => {
      const got = await getMany(engine, asking, listOf(args), resolveCall(call))
      return got.some(isPending) ? Promise.all(got.map(valueOf)) : (got as unknown[])
    },
    getManySettled: async (args, call) => settleMany(engine, asking, listOf(args), call),
  }
}

function story(answer: Answer, rules: EntryRules): Lookup<unknown> {
  const { entry, outcome, tier } = answer
  return { outcome, tier, value: given(entry, rules), ...instants(entry) }
}

/** The same entries, for whoever makes them ahead. */
export function aheadOf(
  definition: ResolvedDefinition['definition'],
  source: Source,
): AheadDefinition {
  const { name, version, load } = definition
  const placeFor = placeOf(definition)
  return {
    source,
    prefix: resourcePrefix(name, version),
    targetOf: (arg) => ({ key: placeFor(arg).key, source, arg, load: (ctx) => load(arg, ctx) }),
  }
}
