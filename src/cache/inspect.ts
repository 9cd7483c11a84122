/**
 * A loaded value before anything is done with it: does it mean "does not exist", can it be stored,
 * has it the shape that it is to have? Whatever the answers, its callers get it.
 */
import { after } from '../core/after.ts'
import { misfit, type Misfit } from '../core/conform.ts'
import type { Uncacheable } from '../core/head.ts'
import type { Engine, Source } from './engine.ts'
import type { Entry } from './entry.ts'
import { callbackFailed } from './failure.ts'
import { copied, encoded, roomFor, type Encoded, type Owner } from './values.ts'

export interface Inspected {
  readonly negative: boolean
  /** What its callers share. */
  readonly value: unknown
  /** `undefined`: it cannot be stored, or nothing needs its bytes. */
  readonly payload: Uint8Array | undefined
  readonly size: number
  /** Why it is not to be kept, if it is not. */
  readonly why: Uncacheable | undefined
  /** What about it cannot be stored. */
  readonly path: string | undefined
}

/** A promise for big values and asynchronous schemas alone; `until`: when the latter must have ended. */
export function inspect(
  engine: Engine,
  source: Source,
  of: {
    readonly key: string
    readonly value: unknown
    readonly toStore: boolean
    readonly until: number
  },
): Inspected | Promise<Inspected> {
  const { key, value, toStore, until } = of
  const { name, rules } = source
  let negative = false
  let why: Uncacheable | undefined
  try {
    negative = rules.isNegative(value)
  } catch (error) {
    why = 'noStore'
    callbackFailed(engine, { name, key }, 'isNegative', error)
  }
  const owner: Owner = { name, key, rules }
  return after(roomFor(engine, value, owner), () => {
    const made = encoded(engine, value, owner, toStore)
    return after(prepared(engine, owner, { value, negative, made, until }), (ready): Inspected => {
      const { value: shared } = ready
      if (ready.type === 'ready') {
        const { payload, size } = ready
        return { negative, value: shared, payload, size, why, path: undefined }
      }
      const cause = why ?? 'unstorable'
      const { path } = ready
      return { negative, value: shared, payload: undefined, size: 0, why: cause, path }
    })
  })
}

export interface Ready {
  readonly type: 'ready'
  /** What its callers share. */
  readonly value: unknown
  readonly payload: Uint8Array | undefined
  readonly size: number
}

/** `value`: as far as it came. */
export interface Unready {
  readonly type: 'unstorable'
  readonly path: string
  readonly value: unknown
}

/** An encoded value copied as a hit will have it, and held against its schema. */
export function prepared(
  engine: Engine,
  owner: Owner,
  of: {
    readonly value: unknown
    readonly negative: boolean
    readonly made: Encoded
    /** When an asynchronous schema must have ended. */
    readonly until: number
  },
): Ready | Unready | Promise<Ready | Unready> {
  const { value, negative, made, until } = of
  if (made.type === 'unstorable') return { ...made, value }
  const { payload, size } = made
  return after(copied(engine, value, payload, owner), (copy) => {
    if (copy.type === 'unstorable') return { ...copy, value }
    const { value: shared } = copy
    const leftMs = Math.max(0, until - engine.clock.now())
    return after(
      negative ? undefined : misfitOf(engine, owner, shared, leftMs),
      (found): Ready | Unready =>
        found === undefined
          ? { type: 'ready', value: shared, payload, size }
          : { type: 'unstorable', path: found.path, value: shared },
    )
  })
}

/** Against the schema of its definition; what that throws is told, and that it has not ended in time. */
export function misfitOf(
  engine: Engine,
  { name, key, rules }: Owner,
  value: unknown,
  withinMs: number,
): Misfit | undefined | Promise<Misfit | undefined> {
  const { schema } = rules
  if (schema === undefined) return undefined
  const checking = misfit(schema, value)
  const checked = checking instanceof Promise ? inTime(engine, checking, withinMs) : checking
  return after(checked, (found) => {
    if (found !== undefined && 'error' in found) {
      callbackFailed(engine, { name, key }, 'schema', found.error)
    }
    return found
  })
}

/** A schema that never settles must hold up no caller, and no lease. */
function inTime(
  engine: Engine,
  checking: Promise<Misfit | undefined>,
  withinMs: number,
): Promise<Misfit | undefined> {
  return new Promise((resolve) => {
    const stop = engine.clock.after(withinMs, () => {
      const text = `the schema took longer than ${Math.round(withinMs)} ms`
      resolve({ path: `$: ${text}`, error: new Error(text) })
    })
    void checking.then((found) => {
      stop()
      resolve(found)
    })
  })
}

/** What is renewed was inspected when it was loaded. */
export function asItWas(previous: Entry): Inspected {
  const { negative, value, payload, size } = previous
  return { negative, value, payload, size, why: undefined, path: undefined }
}
