/** What a definition is made ahead for: its list, or what its function gives, read anew each period. */
import type { Engine } from '../cache/engine.ts'

const perTurn = 1_000

export interface Reader {
  take(arg: unknown): void
  /** Nobody wants the rest: a generator may have no end, and is told to stop. */
  isOver(): boolean
}

/** Whatever iterates, with the event loop let through in between. Rejects with what the function throws. */
export async function readArgs(
  engine: Engine,
  args: readonly unknown[] | (() => unknown),
  { take, isOver }: Reader,
): Promise<void> {
  const given: unknown = typeof args === 'function' ? await args() : args
  let n = 0
  if (isIterable(given, Symbol.asyncIterator)) {
    for await (const arg of given as AsyncIterable<unknown>) {
      if (isOver()) return
      take(arg)
      if (++n % perTurn === 0) await engine.turn()
    }
    return
  }
  if (!isIterable(given, Symbol.iterator) || typeof given === 'string') {
    throw new TypeError(`precompute.args: expected an iterable of arguments, got ${typeof given}`)
  }
  for (const arg of given as Iterable<unknown>) {
    if (isOver()) return
    take(arg)
    if (++n % perTurn === 0) await engine.turn()
  }
}

function isIterable(
  given: unknown,
  symbol: typeof Symbol.iterator | typeof Symbol.asyncIterator,
): boolean {
  return typeof (given as Record<symbol, unknown> | null | undefined)?.[symbol] === 'function'
}
