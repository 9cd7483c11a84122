/**
 * From a resource's argument to its entry's key. The keys of arguments that were asked for lately
 * are remembered: the same string object again means no concatenation and no hashing on a hit,
 * which together cost more than all the rest of it.
 */
import { keyText, resourcePrefix, shortKey } from '../core/keys.ts'
import { digest } from './digest.ts'
import type { ResolvedDefinition } from './options.ts'

const mostRemembered = 2_048
const longestRemembered = 64

/** Throws `INVALID_KEY`. */
export function keyOf(definition: ResolvedDefinition['definition']): (arg: unknown) => string {
  const prefix = resourcePrefix(definition.name, definition.version)
  const { key: named } = definition
  const derive = (arg: unknown): string =>
    shortKey(prefix + keyText(named === undefined ? arg : named(arg)), digest)
  if (named !== undefined) return derive
  const remembered = new Map<string | number, string>()
  return (arg) => {
    if (typeof arg !== 'number' && !(typeof arg === 'string' && arg.length <= longestRemembered)) {
      return derive(arg)
    }
    const known = remembered.get(arg)
    if (known !== undefined) return known
    const key = derive(arg)
    // All at once: no order to keep, and hot arguments are back at their next use.
    if (remembered.size >= mostRemembered) remembered.clear()
    remembered.set(arg, key)
    return key
  }
}
