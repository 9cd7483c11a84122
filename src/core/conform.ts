/**
 * Whether a value is what a schema says, by Standard Schema v1 (standardschema.dev: zod, valibot,
 * arktype and others). It is a check and nothing else: a value that the schema would change (fill in,
 * convert) does not conform, since a hit would then not be what the load gave. What the schema leaves
 * out of its own copy does not count.
 */
import { messageOf } from './errors.ts'

export interface Schema {
  readonly '~standard': { validate(value: unknown): unknown }
}

/** What does not fit, as in `$.price: expected a number`. */
export interface Misfit {
  readonly path: string
  /** What the schema threw, where it did. */
  readonly error?: unknown
}

/** `undefined`: it conforms. Neither throws nor rejects; a promise only where the schema gives one. */
export function misfit(
  schema: Schema,
  value: unknown,
): Misfit | undefined | Promise<Misfit | undefined> {
  try {
    const result = schema['~standard'].validate(value)
    if (!isThenable(result)) return judged(result, value)
    return Promise.resolve(result)
      .then((late) => judged(late, value))
      .catch(thrown)
  } catch (error) {
    return thrown(error)
  }
}

function thrown(error: unknown): Misfit {
  return { path: `$: the schema threw (${messageOf(error)})`, error }
}

function judged(result: unknown, value: unknown): Misfit | undefined {
  if (typeof result !== 'object' || result === null) {
    return thrown(new TypeError('validate() gave no result'))
  }
  const { issues } = result as { issues?: unknown }
  if (Array.isArray(issues)) return { path: issueOf(issues[0]) }
  if (!('value' in result)) return thrown(new TypeError('validate() gave neither value nor issues'))
  const changed = change(result.value, value, '$', 0)
  return changed === undefined ? undefined : { path: `${changed}: the schema would change it` }
}

function issueOf(issue: unknown): string {
  if (typeof issue !== 'object' || issue === null) return '$: refused by the schema'
  const { message, path } = issue as { message?: unknown; path?: unknown }
  let at = '$'
  for (const step of Array.isArray(path) ? (path as unknown[]) : []) {
    const key = typeof step === 'object' && step !== null && 'key' in step ? step.key : step
    at += typeof key === 'number' ? `[${key}]` : `.${String(key)}`
  }
  return `${at}: ${typeof message === 'string' ? message : 'refused by the schema'}`
}

/** Deeper than this, what is not the same object counts as changed. */
const maxDepth = 1_000

/** Where the schema's copy has something that the value has not, or has otherwise. */
function change(output: unknown, value: unknown, path: string, depth: number): string | undefined {
  if (Object.is(output, value)) return undefined
  if (typeof output !== 'object' || typeof value !== 'object') return path
  if (output === null || value === null || depth >= maxDepth) return path
  const within = (name: string, ours: unknown, theirs: unknown): string | undefined =>
    change(ours, theirs, `${path}${name}`, depth + 1)
  if (output instanceof Date && value instanceof Date) {
    return Object.is(output.getTime(), value.getTime()) ? undefined : path
  }
  if (output instanceof Set && value instanceof Set) {
    return output.size === value.size && [...output].every((item) => value.has(item))
      ? undefined
      : path
  }
  if (output instanceof Map && value instanceof Map) {
    if (output.size !== value.size) return path
    for (const [key, item] of output) {
      if (!value.has(key)) return path
      const found = within(`.get(${String(key)})`, item, value.get(key))
      if (found !== undefined) return found
    }
    return undefined
  }
  if (Array.isArray(output) || Array.isArray(value)) {
    if (!Array.isArray(output) || !Array.isArray(value) || output.length !== value.length) {
      return path
    }
    for (let n = 0; n < output.length; n++) {
      const found = within(`[${n}]`, output[n], value[n])
      if (found !== undefined) return found
    }
    return undefined
  }
  if (Object.getPrototypeOf(output) !== Object.getPrototypeOf(value)) {
    const roots: unknown[] = [Object.prototype, null]
    const areRecords = [output, value].every((one) => roots.includes(Object.getPrototypeOf(one)))
    if (!areRecords) return path
  }
  for (const name of Object.keys(output)) {
    const own = output[name as never] as unknown
    if (!Object.hasOwn(value, name) && own === undefined) continue
    if (!Object.hasOwn(value, name)) return `${path}.${name}`
    const found = within(`.${name}`, own, value[name as never])
    if (found !== undefined) return found
  }
  return undefined
}

function isThenable(value: unknown): value is PromiseLike<unknown> {
  return typeof value === 'object' && value !== null && 'then' in value
}
