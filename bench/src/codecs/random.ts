// The same numbers for the same seed, on every machine: mulberry32.

export interface Random {
  /** A whole number from 0, less than `end`. */
  upTo(end: number): number
  of<Item>(items: readonly Item[]): Item
}

export function randomFrom(seed: number): Random {
  let state = Math.imul(seed + 1, 0x9e3779b1) >>> 0
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
  const upTo = (end: number): number => Math.floor(next() * end)
  return { upTo, of: (items) => items[upTo(items.length)]! }
}
