/** How many loaders of one process run, and how many began: I1 and I5. */
import { patience } from './patience.ts'
import type { LoadWatch } from './loader.ts'
import type { Origin, Row, Value } from './source.ts'
import type { Timeline } from './timeline.ts'
import type { Verdict } from './verdict.ts'

export interface LoadOptions {
  readonly timeline: Timeline
  readonly verdict: Verdict
  began(row: Row, origin: Origin, previous: Value | undefined): void
}

export class Load implements LoadWatch {
  /** Loads of a key each, since the process began. */
  total = 0
  #running = 0
  readonly #byRow = new Map<Row, Origin[]>()
  readonly #options: LoadOptions

  constructor(options: LoadOptions) {
    this.#options = options
  }

  began(row: Row, origin: Origin, previous: Value | undefined): void {
    this.total++
    const { verdict, timeline } = this.#options
    verdict.count('loads')
    const running = [...(this.#byRow.get(row) ?? []).filter(isRunning), origin]
    this.#byRow.set(row, running)
    // One that an invalidation reached, and a current one; but what is not to be kept is not shared either.
    if (running.length > 2 && !row.wasUncacheable) {
      verdict.violated('I1', timeline.now, `${running.length} loads of ${row.key} in one process`)
    }
    this.#options.began(row, origin, previous)
  }

  get isFull(): boolean {
    return this.#running >= patience.places
  }

  isLoading(row: Row): boolean {
    return this.#byRow.get(row)?.some(isRunning) === true
  }

  running(change: 1 | -1): void {
    this.#running += change
    if (this.#running <= patience.places) return
    const { verdict, timeline } = this.#options
    verdict.violated(
      'I5',
      timeline.now,
      `${this.#running} loads at once, at most ${patience.places}`,
    )
  }
}

function isRunning(origin: Origin): boolean {
  return origin.isRunning && !origin.isGivenUp
}
