/**
 * From pgoutput's messages to what is to be done. A transaction's changes are gathered until its
 * commit, mapped as they come, and given on with what confirms them. A row is given to a mapping only
 * when all of its columns are known: as it is and, for an update, as it was.
 */
import type { Capture } from './capture.ts'
import type { Message, Relation, Tuple } from './pgoutput.ts'
import { placeOf, type Plan, type PlannedTable } from './plan.ts'
import { rowOf } from './rows.ts'
import type { RowChange } from './table.ts'
import { Work } from './work.ts'

interface Known {
  readonly relation: Relation
  readonly planned: PlannedTable
}

type Values = Record<string, unknown>

export class Transactions {
  plan: Plan
  readonly #capture: Capture
  readonly #confirm: (end: bigint) => void
  readonly #known = new Map<number, Known>()
  #work = new Work()

  constructor(capture: Capture, plan: Plan, confirm: (end: bigint) => void) {
    this.#capture = capture
    this.plan = plan
    this.#confirm = confirm
  }

  take(message: Message): void {
    switch (message.type) {
      case 'begin':
        this.#work = new Work()
        break
      case 'commit': {
        const { end } = message
        this.#capture.taker.add(this.#work, () => this.#confirm(end))
        this.#work = new Work()
        break
      }
      case 'relation':
        this.#meet(message.relation)
        break
      case 'insert': {
        const known = this.#known.get(message.oid)
        if (known === undefined) break
        const row = this.#row(known, message.row)
        this.#change(known, row && { kind: 'insert', row, old: undefined })
        break
      }
      case 'update': {
        const known = this.#known.get(message.oid)
        if (known !== undefined) this.#change(known, this.#update(known, message.row, message.old))
        break
      }
      case 'delete': {
        const known = this.#known.get(message.oid)
        if (known === undefined) break
        const old = this.#old(known, message.old)
        this.#change(known, old && { kind: 'delete', row: undefined, old })
        break
      }
      case 'truncate': {
        const tables = message.oids.flatMap((oid) => this.#known.get(oid)?.planned.table ?? [])
        if (tables.length > 0) this.#capture.gapIn(this.#work, 'TRUNCATE', tables)
        break
      }
      case 'other':
        break
    }
  }

  #meet(relation: Relation): void {
    const planned = this.plan.get(placeOf(relation))
    const before = this.#known.get(relation.oid)
    if (planned !== undefined) {
      this.#known.set(relation.oid, { relation, planned })
      const { table } = planned
      if (planned.oid !== relation.oid) {
        this.#capture.gapIn(this.#work, 'another table of this name', [table])
      }
    } else if (before !== undefined || this.#isOfPlan(relation.oid)) {
      // Renamed: its changes come still, and are of the table that was meant.
      const known = before?.planned ?? this.#isOfPlan(relation.oid)!
      this.#known.set(relation.oid, { relation, planned: known })
    }
  }

  #isOfPlan(oid: number): PlannedTable | undefined {
    return [...this.plan.values()].find((planned) => planned.oid === oid)
  }

  #change({ planned }: Known, change: RowChange<Values> | undefined): void {
    this.#capture.change(this.#work, planned.table, change)
  }

  #update(known: Known, row: Tuple, old: Tuple | undefined): RowChange<Values> | undefined {
    // What lies apart and has not changed is not sent; where the whole old row is, it is there.
    const whole = known.relation.identity === 'f' ? old : undefined
    const now = this.#row(
      known,
      row.map((cell, at) => (cell === undefined ? whole?.[at] : cell)),
    )
    // Without an old row, what identifies it has not changed; where the whole of it should be, it is unknown.
    const isWhole = known.relation.identity === 'f'
    const was =
      old === undefined ? (isWhole ? undefined : this.#old(known, row)) : this.#old(known, old)
    return now && was && { kind: 'update', row: now, old: was }
  }

  /** What of an old row is told: all of it, or what identifies it. */
  #old(known: Known, cells: Tuple): Values | undefined {
    const { identity, columns } = known.relation
    const told =
      identity === 'f' ? cells : cells.map((cell, at) => (columns[at]!.isKey ? cell : undefined))
    return this.#row(known, told)
  }

  #row({ relation, planned }: Known, cells: Tuple): Values | undefined {
    return rowOf(planned.columns, { columns: relation.columns, cells }, this.#capture.types)
  }
}
