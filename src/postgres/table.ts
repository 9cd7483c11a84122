/**
 * One table and what its row changes mean. A mapping is only ever given whole rows (of the columns
 * that it asked for): where the database has told less, the definitions go as a whole instead.
 */
import type { Cache } from '../api.ts'
import { invalidOption } from '../core/errors.ts'
import { checkNames } from '../core/option-names.ts'
import type { ChangeAction, Changeable } from './actions.ts'
import type { TableName } from './quote.ts'

/** `row`: as it is now; `old`: as it was. Both have exactly the columns that were asked for. */
export type RowChange<Row> =
  | { readonly kind: 'insert'; readonly row: Readonly<Row>; readonly old: undefined }
  | { readonly kind: 'update'; readonly row: Readonly<Row>; readonly old: Readonly<Row> }
  | { readonly kind: 'delete'; readonly row: undefined; readonly old: Readonly<Row> }

export interface TableOptions<Row> {
  /**
   * What is invalidated as a whole where changes cannot be told one by one: after a gap, a TRUNCATE,
   * a change of too many rows, a mapping that throws. Definitions, or the cache itself for all of it.
   */
  affects: readonly (Changeable | Cache)[]
  /** What of a row is sent: as the table names it. Default: the primary key. */
  columns?: readonly (keyof Row & string)[] | undefined
  /**
   * What a change of a row means. Synchronous. Values are what `pg` makes of the column's type
   * (`int8` and `numeric` are texts); `Row` is your word for it, and is not checked.
   */
  change(change: RowChange<Row>): ChangeAction | readonly ChangeAction[] | undefined
}

/** Made by `onTable`. */
export interface TableChanges {
  readonly name: TableName
  /** `undefined`: the primary key. */
  readonly columns: readonly string[] | undefined
  readonly affects: readonly (Changeable | Cache)[]
  readonly change: (change: RowChange<never>) => unknown
}

const names = new Set(['affects', 'columns', 'change'])

/**
 * What changes of a table's rows mean to the cache.
 *
 * @param table `'products'` (of the schema `public`), `'shop.products'`, or both names apart, where
 * one of them contains a dot. As they are in the catalogue: nothing is folded to lower case.
 * @throws BreakwaterError `INVALID_OPTION`.
 */
export function onTable<Row extends object>(
  table: string | TableName,
  options: TableOptions<Row>,
): TableChanges {
  const name = tableName(table)
  const { affects, columns, change } = checkNames(options, { names }, 'onTable.')
  if (!Array.isArray(affects) || affects.length === 0 || !affects.every(canClear)) {
    const expected =
      'a list of at least one definition (or the cache), for what cannot be told by row'
    throw invalidOption('onTable.affects', expected, affects)
  }
  if (typeof change !== 'function') throw invalidOption('onTable.change', 'a function', change)
  return {
    name,
    columns: columns === undefined ? undefined : columnNames(columns),
    affects: [...new Set(affects as TableChanges['affects'])],
    change: change as TableChanges['change'],
  }
}

export function tableName(table: unknown): TableName {
  const option = 'onTable.table'
  if (typeof table === 'object' && table !== null) {
    const parts = checkNames(table, { names: new Set(['schema', 'table']) }, `${option}.`)
    return {
      schema: identifier(parts['schema'], `${option}.schema`),
      table: identifier(parts['table'], `${option}.table`),
    }
  }
  if (typeof table !== 'string') throw invalidOption(option, 'the name of a table', table)
  const parts = table.split('.')
  if (parts.length > 2 || table.includes('"')) {
    throw invalidOption(
      option,
      "'schema.table', or { schema, table } where a name is unusual",
      table,
    )
  }
  const [first, second] = parts
  return second === undefined
    ? { schema: 'public', table: identifier(first, option) }
    : { schema: identifier(first, option), table: identifier(second, option) }
}

export function columnNames(columns: unknown): readonly string[] {
  if (!Array.isArray(columns)) throw invalidOption('onTable.columns', 'a list of names', columns)
  const list = columns.map((column) => identifier(column, 'onTable.columns'))
  if (new Set(list).size < list.length) {
    throw invalidOption('onTable.columns', 'each name once', columns)
  }
  return list
}

/** PostgreSQL cuts off what is longer than 63 bytes, and knows no NUL. */
function identifier(name: unknown, option: string): string {
  const isName = typeof name === 'string' && name !== '' && !name.includes('\0')
  if (!isName || Buffer.byteLength(name) > 63) {
    throw invalidOption(option, 'a name of 1 to 63 bytes', name)
  }
  return name
}

function canClear(one: unknown): boolean {
  return (
    typeof one === 'object' && one !== null && 'clear' in one && typeof one.clear === 'function'
  )
}
