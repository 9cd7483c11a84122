/** What happened, line by line, where somebody wants to read it; and as one number, to compare two runs. */
export class Trace {
  readonly lines: string[] | undefined
  #hash = 0x811c9dc5
  #other = 0

  constructor(isKept: boolean) {
    this.lines = isKept ? [] : undefined
  }

  /** Where nobody wants it, the text is not even made: most histories are only judged. */
  add(at: number, tell: () => string): void {
    if (this.lines === undefined) return
    const text = tell()
    let hash = this.#hash
    for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193)
    hash = Math.imul(hash ^ Math.floor(at * 1_000), 0x01000193)
    this.#hash = hash
    this.#other = (Math.imul(this.#other, 31) + hash) | 0
    this.lines.push(`${at.toFixed(3).padStart(10)} ${text}`)
  }

  get hash(): string {
    const hex = (n: number): string => (n >>> 0).toString(16).padStart(8, '0')
    return hex(this.#hash) + hex(this.#other)
  }
}
