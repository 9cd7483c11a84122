/**
 * What each process must not serve any more (I3). A change (invalidation, write, change by tag) that
 * the server did at some instant binds a process once it has heard of it, or has had it confirmed:
 * what it serves to whoever asks later began to load after that instant.
 *
 * Not promised by the design, and left out here: a change that a failover has lost, for every
 * process but the one that made it, until that one has repeated it (which is a change of its own).
 */
import type { Deed, Operation } from './server.ts'
import type { Row, Source } from './source.ts'

export type ChangeKind = 'gone' | 'expired'

export interface Change {
  readonly kind: ChangeKind
  readonly at: number
  readonly deed: Deed
  readonly sender: number
  readonly rows: readonly Row[]
  /** By its failover: the server does not know it any more. */
  isLost: boolean
  /** The call that was told so. */
  confirmedTo: number | undefined
}

/** One that has changed something. */
export interface ChangingCall {
  readonly id: number
  readonly sender: number
  readonly operation: Operation
  readonly since: number
}

/** Since when a process knows of a change. */
interface Floor {
  readonly kind: ChangeKind
  readonly at: number
  readonly knownAt: number
  readonly change: Change | undefined
  readonly isOwn: boolean
  /** Of one's own: when it was called. */
  readonly calledAt?: number
  readonly isByTag: boolean
}

/** What was served: a write of one's own is judged by when it was called. */
export type What = 'value' | 'failure' | 'own write'

export class Changes {
  readonly all: Change[] = []
  readonly #byRow: Change[][]
  readonly #floors = new Map<number, Floor[][]>()
  readonly #source: Source

  constructor(source: Source) {
    this.#source = source
    this.#byRow = source.rows.map(() => [])
  }

  /** The server has done it. */
  made(change: Change): void {
    this.all.push(change)
    for (const { id } of change.rows) this.#byRow[id]!.push(change)
  }

  /** A process is bound from now on. */
  known(process: number, row: Row, floor: Floor): void {
    let rows = this.#floors.get(process)
    if (rows === undefined) {
      rows = this.#source.rows.map(() => [])
      this.#floors.set(process, rows)
    }
    rows[row.id]!.push(floor)
  }

  madeAt(row: Row, at: number): Change | undefined {
    return this.#byRow[row.id]!.findLast((one) => one.at === at)
  }

  /**
   * The change of this row that a process has had confirmed, called at `since`: of several under way
   * the first of its kind, since a connection keeps its order.
   */
  confirmed(call: ChangingCall, row: Row): Change | undefined {
    const change = this.#byRow[row.id]!.find(({ sender, deed, at, confirmedTo }) => {
      if (sender !== call.sender || deed.operation !== call.operation || at < call.since)
        return false
      return confirmedTo === undefined || confirmedTo === call.id
    })
    if (change !== undefined) change.confirmedTo = call.id
    return change
  }

  /** What is served to one who asked at `asked` began to load no earlier than that. */
  least(process: number, row: Row, asked: number, kind: ChangeKind, what: What = 'value'): number {
    let least = -Infinity
    for (const floor of this.#floors.get(process)?.[row.id] ?? []) {
      // Of two changes of one process the one called later is the newer, whenever the server did them.
      const at = what === 'own write' ? (floor.calledAt ?? floor.at) : floor.at
      if (floor.kind !== kind || floor.knownAt > asked || at <= least) continue
      if (floor.change?.isLost === true && !floor.isOwn) continue
      // Tags are a value's: where they are made of it, a failure has none (`Source.labels` of the engine).
      if (what === 'failure' && floor.isByTag && !row.hasFixedTag) continue
      least = at
    }
    return least
  }

  /** The last that the server did until then, and still knows, of those that bind this process. */
  last(process: number, row: Row, until: number): number {
    const isOne = ({ kind, at, isLost, sender, deed }: Change): boolean => {
      if (kind !== 'gone' || at > until || isLost) return false
      // One's own change by tag binds from its call on, however late the server takes it.
      return sender !== process || deed.operation !== 'bump'
    }
    return this.#byRow[row.id]!.findLast(isOne)?.at ?? -Infinity
  }
}
