/** The option `verify`, resolved. */
import { invalidOption } from '../core/errors.ts'
import { checkNames, type Level } from '../core/option-names.ts'

export interface VerifyRules {
  /** Of the hits. */
  readonly sample: number
  /** What one hit adds to the chance: hits that add up to a draw of mean 1 are this share of them all. */
  readonly step: number
  /** At most so many, of a definition in this process. */
  readonly perSecond: number
  readonly equal: ((served: unknown, loaded: unknown) => boolean) | undefined
}

const level: Level = { names: new Set(['sample', 'perSecond', 'equal']) }

export function verifyRules(
  given: unknown,
  before: VerifyRules | undefined,
  option: string,
): VerifyRules | undefined {
  if (given === undefined) return before
  if (given === false || given === 0) return undefined
  if (typeof given === 'number') {
    return { perSecond: 1, equal: undefined, ...before, ...share(given, option) }
  }
  if (typeof given !== 'object' || given === null) {
    throw invalidOption(option, "false, a share such as 0.001, or '{ sample: 0.001 }'", given)
  }
  const {
    sample,
    perSecond = before?.perSecond ?? 1,
    equal,
  } = checkNames(given, level, `${option}.`)
  if (!(typeof perSecond === 'number' && perSecond > 0 && perSecond <= 1_000)) {
    throw invalidOption(`${option}.perSecond`, 'a number over 0, and at most 1000', perSecond)
  }
  if (equal !== undefined && typeof equal !== 'function') {
    throw invalidOption(`${option}.equal`, 'a function', equal)
  }
  return {
    ...share(sample ?? before?.sample, `${option}.sample`),
    perSecond,
    equal: (equal as VerifyRules['equal']) ?? before?.equal,
  }
}

function share(given: unknown, option: string): Pick<VerifyRules, 'sample' | 'step'> {
  if (typeof given === 'number' && given > 0 && given <= 1) {
    return { sample: given, step: -Math.log1p(-given) }
  }
  throw invalidOption(option, 'a number over 0, and at most 1', given)
}
