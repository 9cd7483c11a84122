/**
 * What `define` gives: one kind of entry, addressed by its argument. `get` is the hot path: a hit
 * in memory derives the key, compares two instants, adds to a counter, and returns a promise that
 * was made when the entry came in.
 */
import type { Awaitable, Call, LoadContext, Lookup, Peek, Resource } from '../api.ts'
import type { EntryRules, ResolvedDefinition } from './options.ts'
import { answered, isFallback, withFallback } from './answer.ts'
import { usesMemory, type Answer, type Engine, type Source, type Target } from './engine.ts'
import type { Entry } from './entry.ts'
import { promiseOf } from './keep.ts'
import { keyOf } from './key-of.ts'
import { peek } from './peek.ts'
import { resolveCall, resolveEntry } from './options.ts'
import { refresh } from './forced.ts'
import { canLookFirst, read, readFound } from './read.ts'
import { given } from './values.ts'
import { change, set } from './write.ts'

export interface ResourceInit {
  readonly definition: ResolvedDefinition['definition']
  readonly source: Source
}

export function makeResource(engine: Engine, init: ResourceInit): Resource<unknown, unknown> {
  const { definition, source } = init
  const { name } = definition
  const { rules, counters } = source
  const { clock, hearing, listeners } = engine
  const memory = usesMemory(engine, rules) ? engine.memory : undefined
  const keyFor = keyOf(definition)

  const targetFor = (arg: unknown, key: string): Target => ({
    key,
    source,
    load: (ctx: LoadContext) => definition.load(arg, ctx),
  })
  const valueFrom = async (
    arg: unknown,
    key: string,
    run: (target: Target) => Awaitable<Answer>,
  ): Promise<unknown> => {
    const answer = await withFallback(engine, source, { key, arg }, async () =>
      run(targetFor(arg, key)),
    )
    return isFallback(answer) ? answer.value : given(answer.entry, rules)
  }
  const counted = (entry: Entry, key: string): void => {
    if (entry.negative) counters.negative++
    if (listeners.answer) listeners.tell('answer', () => ({ name, key, outcome: 'hit' }))
  }

  const get = (arg: unknown, call?: Call): Promise<unknown> => {
    let key: string
    try {
      key = keyFor(arg)
    } catch (error) {
      return Promise.reject(error)
    }
    if (call !== undefined) {
      return valueFrom(arg, key, (target) => read(engine, target, resolveCall(call)))
    }
    const held = memory?.get(key)
    if (held !== undefined) {
      const now = clock.now()
      if (now < held.hotUntil && now < hearing.deafAt && held.trust === hearing.trust) {
        counters.hitMemory++
        counted(held, key)
        return held.promise ?? promiseOf(engine, held)
      }
    } else if (canLookFirst(engine, source, key)) {
      // The hot path of a hit in the store: one look that all who ask share, and no more promises.
      return engine.looks.at(engine, source, key, undefined).then((found) => {
        if (found.type === 'entry' && found.entry.isHot(clock.now())) {
          counters.hitStore++
          counted(found.entry, key)
          return given(found.entry, rules)
        }
        return valueFrom(arg, key, (target) => readFound(engine, target, found))
      })
    }
    return valueFrom(arg, key, (target) => read(engine, target, undefined))
  }

  return {
    name,
    key: keyFor,
    get,
    lookup: async (arg, call) => {
      const key = keyFor(arg)
      const resolved = resolveCall(call)
      const answer = await withFallback(engine, source, { key, arg }, () =>
        read(engine, targetFor(arg, key), resolved),
      )
      if (isFallback(answer)) return answer
      return story(answer, rules)
    },
    refresh: async (arg, call) => {
      const key = keyFor(arg)
      const answer = await answered(engine, source, key, () =>
        refresh(engine, targetFor(arg, key), resolveCall(call)),
      )
      return given(answer.entry, rules)
    },
    getMany: async (args, call) => Promise.all(args.map((arg) => get(arg, call))),
    getManySettled: async (args, call) => Promise.allSettled(args.map((arg) => get(arg, call))),
    peek: async (arg): Promise<Peek<unknown>> => peek(engine, source, keyFor(arg)),
    set: async (arg, value, options) => {
      const key = keyFor(arg)
      const own = options === undefined ? rules : resolveEntry(rules, options, `${name}.set`)
      await set(engine, { ...source, rules: own }, key, value)
    },
    invalidate: async (arg) => change(engine, [keyFor(arg)], 'invalidate'),
    invalidateMany: async (args) => change(engine, args.map(keyFor), 'invalidate'),
    expire: async (arg) => change(engine, [keyFor(arg)], 'expire'),
    expireMany: async (args) => change(engine, args.map(keyFor), 'expire'),
  }
}

function story(answer: Answer, rules: EntryRules): Lookup<unknown> {
  const { entry, outcome, tier } = answer
  const { storedAt, freshUntil } = entry
  return { outcome, tier, value: given(entry, rules), storedAt, freshUntil }
}
