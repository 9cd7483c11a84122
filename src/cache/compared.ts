/** A served value, held against one that was loaded to see whether it is right. */
import { isDeepStrictEqual } from 'node:util'
import type { Answer, Engine, Target } from './engine.ts'
import type { Entry } from './entry.ts'
import { callbackFailed } from './failure.ts'
import { cloned, given } from './values.ts'

/** `failed`: there is nothing to compare with, or comparing failed. */
export function compared(
  engine: Engine,
  { key, source }: Target,
  values: { readonly served: Entry; readonly loaded: Answer },
): 'same' | 'different' | 'failed' {
  const { served, loaded } = values
  const { rules, name } = source
  const { entry } = loaded
  // To exist or not is no matter of what an `equal` of two values makes of it.
  if (served.negative || entry.negative) {
    return served.negative === entry.negative ? 'same' : 'different'
  }
  // A makeshift, or for one caller alone.
  if (loaded.isUnkept === true) return 'failed'
  const equal = rules.verify?.equal ?? isDeepStrictEqual
  try {
    const one = given(served, rules)
    const other = given(entry, rules)
    if (equal(one, other)) return 'same'
    // What callers share is as it was loaded, or as the store gave it back.
    return rules.values === 'share' && equal(one, cloned(other, rules)) ? 'same' : 'different'
  } catch (error) {
    callbackFailed(engine, { name, key }, 'verify.equal', error)
    return 'failed'
  }
}
