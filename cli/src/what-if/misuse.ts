/** The command was called in a wrong way: a sentence for who typed it, and exit code 2. */
export class Misuse extends Error {
  override readonly name = 'Misuse'
}

export function expected(option: string, what: string, got: unknown): Misuse {
  return new Misuse(`${option}: expected ${what}, got ${JSON.stringify(got) ?? 'nothing'}`)
}
