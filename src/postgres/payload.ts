/** What the triggers say, taken apart. Text that is not theirs gives `undefined`: anybody may notify. */
import type { Cell } from './rows.ts'

export interface Told {
  readonly schema: string
  readonly table: string
  readonly columns: readonly string[]
  /** Anything else than rows: something of the table has changed. */
  readonly kind: 'insert' | 'update' | 'delete' | 'something' | 'truncate' | 'many' | 'long'
  readonly types: readonly number[]
  /** Of an update, `old` and `row` in turn. */
  readonly rows: readonly { readonly old?: readonly Cell[]; readonly row?: readonly Cell[] }[]
}

const kinds: Readonly<Record<string, Told['kind']>> = {
  i: 'insert',
  u: 'update',
  d: 'delete',
  t: 'truncate',
  many: 'many',
  long: 'long',
  '?': 'something',
}

export function parsePayload(payload: string): Told | undefined {
  let told: unknown
  try {
    told = JSON.parse(payload)
  } catch {
    return undefined
  }
  if (typeof told !== 'object' || told === null) return undefined
  const { t: table, c: columns, k, y = [], r = [] } = told as Record<string, unknown>
  if (!isTexts(table) || table.length !== 2 || !isTexts(columns)) return undefined
  const kind = typeof k === 'string' && Object.hasOwn(kinds, k) ? kinds[k]! : 'something'
  const common = { schema: table[0]!, table: table[1]!, columns }
  const rows = Array.isArray(r) ? r.map((row) => cellsOf(kind, row)) : []
  if (!isTexts(y) || rows.includes(undefined)) {
    return { ...common, kind: 'something', types: [], rows: [] }
  }
  return { ...common, kind, types: y.map(Number), rows: rows as Told['rows'] }
}

function cellsOf(kind: Told['kind'], row: unknown): Told['rows'][number] | undefined {
  if (kind === 'insert') return isCells(row) ? { row } : undefined
  if (kind === 'delete') return isCells(row) ? { old: row } : undefined
  if (kind !== 'update' || !Array.isArray(row)) return undefined
  const [old, now] = row as unknown[]
  return isCells(old) && isCells(now) ? { old, row: now } : undefined
}

function isTexts(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((one) => typeof one === 'string')
}

function isCells(value: unknown): value is readonly Cell[] {
  return Array.isArray(value) && value.every((one) => typeof one === 'string' || one === null)
}
