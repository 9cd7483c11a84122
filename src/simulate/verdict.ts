/** What was found wrong, and what was seen at all: a history in which nothing happens proves nothing. */
import type { Trace } from './trace.ts'

/** The invariants of the design; `end`: after all faults, everybody gets the newest. */
export type Invariant = 'I1' | 'I2' | 'I3' | 'I4' | 'I5' | 'I6' | 'I7' | 'I8' | 'end'

export interface Violation {
  readonly invariant: Invariant
  readonly at: number
  readonly text: string
}

/** A history that goes wrong once goes wrong often. */
const mostKept = 20

export class Verdict {
  readonly violations: Violation[] = []
  readonly figures: Record<string, number> = {}
  readonly #trace: Trace
  /** What comes after the end is of no interest. */
  isOver = false

  constructor(trace: Trace) {
    this.#trace = trace
  }

  violated(invariant: Invariant, at: number, text: string): void {
    if (this.isOver) return
    this.#trace.add(at, () => `!! ${invariant} ${text}`)
    if (this.violations.length < mostKept) this.violations.push({ invariant, at, text })
  }

  count(what: string, n = 1): void {
    this.figures[what] = (this.figures[what] ?? 0) + n
  }
}
