/** Thrown by a codec for what it cannot keep. Carries the path, as in `$.author.save: function`. */
export class Unstorable extends Error {
  override readonly name = 'Unstorable'
  readonly path: string
  readonly what: string

  constructor(path: string, what: string) {
    super(`${path}: ${what}`)
    this.path = path
    this.what = what
  }
}
