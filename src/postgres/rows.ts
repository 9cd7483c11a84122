/** Row values as they come, as texts, to the records that mappings are given. */
import type { ColumnTypes } from './column-types.ts'

export interface Column {
  readonly name: string
  readonly type: number
}

/** `undefined`: the database has not told it. */
export type Cell = string | null | undefined

/**
 * The wanted columns of a row; `undefined` where one of them is not there, was not told, or has a
 * type that is not known: then there is no row.
 */
export function rowOf(
  wanted: readonly string[],
  told: { readonly columns: readonly Column[]; readonly cells: readonly Cell[] },
  types: ColumnTypes,
): Record<string, unknown> | undefined {
  const row: Record<string, unknown> = Object.create(null) as Record<string, unknown>
  for (const name of wanted) {
    const at = told.columns.findIndex((column) => column.name === name)
    const cell = told.cells[at]
    if (at === -1 || cell === undefined) return undefined
    const parse = types.parserOf(told.columns[at]!.type)
    if (parse === undefined) return undefined
    row[name] = cell === null ? null : parse(cell)
  }
  return row
}
