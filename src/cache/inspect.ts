/**
 * A loaded value before anything is done with it: does it mean "does not exist", can it be stored,
 * has it the shape that it is to have? Whatever the answers, its callers get it.
 */
import { misfit, type Misfit } from '../core/conform.ts'
import type { Uncacheable } from '../core/head.ts'
import type { Engine, Source } from './engine.ts'
import type { Entry } from './entry.ts'
import { callbackFailed } from './failure.ts'
import { copied, encoded, roomFor, type Copied, type Encoded, type Owner } from './values.ts'

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
  const judge = (made: Encoded): Inspected | Promise<Inspected> => {
    const as = { negative, value, payload: undefined, size: 0 }
    const refused = (path: string, shared = value): Inspected => {
      return { ...as, value: shared, path, why: why ?? 'unstorable' }
    }
    if (made.type === 'unstorable') return refused(made.path)
    const { payload, size } = made
    const finish = (copy: Copied): Inspected | Promise<Inspected> => {
      if (copy.type === 'unstorable') return refused(copy.path)
      const shared = copy.value
      const whole = { negative, value: shared, payload, size, why, path: undefined }
      const { schema } = rules
      if (schema === undefined || negative) return whole
      const fits = (found: Misfit | undefined): Inspected => {
        if (found === undefined) return whole
        if ('error' in found) callbackFailed(engine, { name, key }, 'schema', found.error)
        return refused(found.path, shared)
      }
      const found = misfit(schema, shared)
      return found instanceof Promise ? found.then(fits) : fits(found)
    }
    const copy = copied(engine, value, payload, owner)
    return copy instanceof Promise ? copy.then(finish) : finish(copy)
  }
  const room = roomFor(engine, value, owner)
  const go = (): Inspected | Promise<Inspected> => judge(encoded(engine, value, owner, toStore))
  return room === undefined ? go() : room.then(go, go)
}

/** What is renewed was inspected when it was loaded. */
export function asItWas(previous: Entry): Inspected {
  const { negative, value, payload, size } = previous
  return { negative, value, payload, size, why: undefined, path: undefined }
}
