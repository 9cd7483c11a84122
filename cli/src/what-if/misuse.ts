/** The command was called in a wrong way: a sentence for who typed it, and exit code 2. */
export class Misuse extends Error {
  override readonly name = 'Misuse'
}

export function expected(option: string, what: string, got: unknown): Misuse {
  // A line of a file that is none of ours may be all of it.
  const shown = typeof got === 'string' && got.length > 200 ? `${got.slice(0, 200)}…` : got
  return new Misuse(`${option}: expected ${what}, got ${JSON.stringify(shown) ?? 'nothing'}`)
}
