/**
 * Many entries of one resource: those in memory at once, those in the store in one round trip, our
 * share of the rest in one load. Every position has its own outcome, as if it had been asked for
 * alone; a key that is named twice is looked for once.
 */
import type { Call } from '../api.ts'
import { Batch, type BatchLoader, type Seat } from './batch.ts'
import type { Engine, Source } from './engine.ts'
import type { Found } from './look.ts'
import { resolveCall, type ResolvedCall } from './options.ts'
import { canLookFirst } from './read.ts'

export interface Asking {
  readonly source: Source
  keyFor(arg: unknown): string
  readonly loadMany: BatchLoader['loadMany'] | undefined
  /** What memory answers, or `nothing`. */
  fromMemory(arg: unknown, key: string, seat: Seat | undefined): unknown
  /** What a look found, where that can be served as it is, or `nothing`. */
  fromLook(found: Found, arg: unknown, key: string): unknown
  /** The slow way; `found`: the store has been looked at already. */
  load(at: Position, call: ResolvedCall | undefined, found: Found | undefined): Promise<unknown>
}

/** One of the arguments. */
export interface Position {
  readonly arg: unknown
  readonly key: string
  readonly seat: Seat | undefined
}

/** No value: values may be anything. */
export const nothing: unique symbol = Symbol('nothing')

/** A value for each argument, or what `isPending`. Throws `INVALID_KEY`. */
export async function getMany(
  engine: Engine,
  asking: Asking,
  args: readonly unknown[],
  call: ResolvedCall | undefined,
  keys: readonly string[] = args.map(asking.keyFor),
): Promise<readonly unknown[]> {
  const seats = seated(engine, asking, args, keys)
  const values: unknown[] = Array.from(keys)
  const missing: number[] = []
  for (let n = 0; n < keys.length; n++) {
    const seat = seats?.[n]
    const value = call === undefined ? asking.fromMemory(args[n], keys[n]!, seat) : nothing
    if (value === nothing) missing.push(n)
    else seat?.leaveUntaken()
    values[n] = value
  }
  if (missing.length === 0) return values
  const looking = call === undefined ? lookAt(engine, asking, keys, missing) : undefined
  const looked = looking === undefined ? undefined : await looking
  for (let at = 0; at < missing.length; at++) {
    const n = missing[at]!
    const key = keys[n]!
    const seat = seats?.[n]
    const found = looked?.[at]
    const value = found === undefined ? nothing : asking.fromLook(found, args[n], key)
    if (value !== nothing) {
      seat?.leaveUntaken()
      values[n] = value
      continue
    }
    const loading = asking.load({ arg: args[n], key, seat }, call, found)
    values[n] = new Pending(loading)
    if (seat === undefined) continue
    const leave = (): void => seat.leaveUntaken()
    loading.then(leave, leave)
  }
  return values
}

/** The same, with every failure at its own place: also of an argument that names nothing. */
export async function settleMany(
  engine: Engine,
  asking: Asking,
  args: readonly unknown[],
  call: Call | undefined,
): Promise<PromiseSettledResult<unknown>[]> {
  let wants: ResolvedCall | undefined
  try {
    wants = resolveCall(call)
  } catch (error) {
    return args.map(() => ({ status: 'rejected', reason: error }))
  }
  const refused = new Map<number, unknown>()
  const named: unknown[] = []
  const keys: string[] = []
  for (const [n, arg] of args.entries()) {
    try {
      keys.push(asking.keyFor(arg))
      named.push(arg)
    } catch (error) {
      refused.set(n, error)
    }
  }
  const got = (await getMany(engine, asking, named, wants, keys)).values()
  return Promise.allSettled(
    args.map((_, n) =>
      refused.has(n) ? Promise.reject(refused.get(n)) : valueOf(got.next().value),
    ),
  )
}

/** A value that is still to come. */
class Pending {
  readonly value: Promise<unknown>

  constructor(value: Promise<unknown>) {
    this.value = value
  }
}

export function isPending(got: unknown): boolean {
  return got instanceof Pending
}

export function valueOf(got: unknown): unknown {
  return got instanceof Pending ? got.value : got
}

/** All have their seats before anybody begins; a key that comes again shares what the first one gets. */
function seated(
  engine: Engine,
  { source, keyFor, loadMany }: Asking,
  args: readonly unknown[],
  keys: readonly string[],
): readonly (Seat | undefined)[] | undefined {
  if (loadMany === undefined) return undefined
  const batch = new Batch(engine, { source, keyFor, loadMany })
  const seen = new Set<string>()
  return keys.map((key, n) => {
    if (seen.has(key)) return undefined
    seen.add(key)
    return batch.seat(key, args[n])
  })
}

/** What the store has of those that memory lacks; `undefined`: not to be asked about all of them. */
function lookAt(
  engine: Engine,
  { source }: Asking,
  keys: readonly string[],
  missing: readonly number[],
): Promise<readonly (Found | undefined)[]> | undefined {
  const { memory } = engine
  const mayLook = missing.every((n) => {
    const key = keys[n]!
    return memory?.get(key) === undefined && canLookFirst(engine, source, key)
  })
  if (!mayLook) return undefined
  return engine.looks.atMany(
    engine,
    source,
    missing.map((n) => keys[n]!),
  )
}
