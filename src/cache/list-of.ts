import { BreakwaterError, describe } from '../core/errors.ts'

/** The arguments of a call about many entries. */
export function listOf<T>(args: readonly T[]): readonly T[] {
  if (Array.isArray(args)) return args
  const text = `expected an array of arguments, got ${describe(args)}`
  throw new BreakwaterError('INVALID_KEY', text)
}
