/**
 * What happened, line by line: as one number, to compare two runs of a plan, and as text where
 * somebody wants to read it.
 */
export class Trace {
  readonly lines: string[] | undefined
  #hash = 0x811c9dc5
  #other = 0

  constructor(isKept: boolean) {
    this.lines = isKept ? [] : undefined
  }

  add(at: number, text: string): void {
    let hash = this.#hash
    for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193)
    hash = Math.imul(hash ^ Math.floor(at * 1_000), 0x01000193)
    this.#hash = hash
    this.#other = (Math.imul(this.#other, 31) + hash) | 0
    this.lines?.push(`${at.toFixed(3).padStart(10)} ${text}`)
  }

  get hash(): string {
    const hex = (n: number): string => (n >>> 0).toString(16).padStart(8, '0')
    return hex(this.#hash) + hex(this.#other)
  }
}
