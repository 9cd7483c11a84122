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
  fromLook(found: Found, key: string): unknown
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
): Promise<readonly unknown[]> {
  const positions = seated(engine, asking, args)
  const values: unknown[] = []
  const missing: number[] = []
  for (const [n, { arg, key, seat }] of positions.entries()) {
    const value = call === undefined ? asking.fromMemory(arg, key, seat) : nothing
    if (value === nothing) missing.push(n)
    else seat?.leaveUntaken()
    values.push(value)
  }
  if (missing.length === 0) return values
  const looking = call === undefined ? lookAt(engine, asking, positions, missing) : undefined
  const found = looking === undefined ? undefined : await looking
  for (const n of missing) {
    const at = positions[n]!
    const looked = found?.get(at.key)
    const value = looked === undefined ? nothing : asking.fromLook(looked, at.key)
    if (value !== nothing) {
      at.seat?.leaveUntaken()
      values[n] = value
      continue
    }
    const loading = asking.load(at, call, looked)
    values[n] = new Pending(loading)
    const { seat } = at
    if (seat !== undefined)
      loading.then(
        () => seat.leaveUntaken(),
        () => seat.leaveUntaken(),
      )
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
  const named = args.filter((arg, n) => {
    try {
      asking.keyFor(arg)
      return true
    } catch (error) {
      refused.set(n, error)
      return false
    }
  })
  const got = (await getMany(engine, asking, named, wants)).values()
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
function seated(engine: Engine, asking: Asking, args: readonly unknown[]): readonly Position[] {
  const { source, keyFor, loadMany } = asking
  if (loadMany === undefined) {
    return args.map((arg) => ({ arg, key: keyFor(arg), seat: undefined }))
  }
  const batch = new Batch(engine, { source, keyFor, loadMany })
  const keys = args.map(keyFor)
  const seen = new Set<string>()
  return args.map((arg, n) => {
    const key = keys[n]!
    const isFirst = seen.size < seen.add(key).size
    return { arg, key, seat: isFirst ? batch.seat(key, arg) : undefined }
  })
}

/** What the store has of the keys that nobody is at work on. */
function lookAt(
  engine: Engine,
  { source }: Asking,
  positions: readonly Position[],
  missing: readonly number[],
): Promise<ReadonlyMap<string, Found>> | undefined {
  const keys = new Set<string>()
  for (const n of missing) {
    const { key } = positions[n]!
    if (engine.memory?.get(key) !== undefined || engine.looks.isLooking(key)) continue
    if (canLookFirst(engine, source, key)) keys.add(key)
  }
  if (keys.size === 0) return undefined
  const looked = [...keys]
  return engine.looks
    .atMany(engine, source, looked)
    .then((found) => new Map(looked.map((key, n) => [key, found[n]!])))
}
