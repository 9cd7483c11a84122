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
import { copied, encoded, roomFor, type Owner } from './values.ts'

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

/** A promise for big values and asynchronous schemas alone. */
export function inspect(
  engine: Engine,
  source: Source,
  of: { readonly key: string; readonly value: unknown; readonly toStore: boolean },
): Inspected | Promise<Inspected> {
  const { key, value, toStore } = of
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
  const refused = (path: string, shared = value): Inspected => {
    const cause = why ?? 'unstorable'
    return { negative, value: shared, payload: undefined, size: 0, why: cause, path }
  }
  return after(roomFor(engine, value, owner), () => {
    const made = encoded(engine, value, owner, toStore)
    if (made.type === 'unstorable') return refused(made.path)
    const { payload, size } = made
    return after(copied(engine, value, payload, owner), (copy) => {
      if (copy.type === 'unstorable') return refused(copy.path)
      const { value: shared } = copy
      return after(negative ? undefined : misfitOf(engine, owner, shared), (found) => {
        if (found !== undefined) return refused(found.path, shared)
        return { negative, value: shared, payload, size, why, path: undefined }
      })
    })
  })
}

/** Against the schema of its definition; what that throws is told. */
export function misfitOf(
  engine: Engine,
  { name, key, rules }: Owner,
  value: unknown,
): Misfit | undefined | Promise<Misfit | undefined> {
  const { schema } = rules
  if (schema === undefined) return undefined
  return after(misfit(schema, value), (found) => {
    if (found !== undefined && 'error' in found) {
      callbackFailed(engine, { name, key }, 'schema', found.error)
    }
    return found
  })
}

/** What is renewed was inspected when it was loaded. */
export function asItWas(previous: Entry): Inspected {
  const { negative, value, payload, size } = previous
  return { negative, value, payload, size, why: undefined, path: undefined }
}
