import { BreakwaterError, describe } from '../core/errors.ts'

/** The arguments of a call about many entries. */
export function listOf<T>(args: readonly T[]): readonly T[] {
  // A copy: the caller's own list may change before the call is done. A hole is `undefined`.
  if (Array.isArray(args)) return [...(args as readonly T[])]
  const text = `expected an array of arguments, got ${describe(args)}`
  throw new BreakwaterError('INVALID_KEY', text)
}
