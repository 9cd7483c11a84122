/**
 * What is asked of each table, held against what is in the database. What is missing there is refused
 * with the SQL that would cure it: trying again does not.
 */
import { BreakwaterError } from '../core/errors.ts'
import type { Link, Row } from './link.ts'
import { objectName } from './names.ts'
import { unidentified } from './publication-sql.ts'
import { quoteTable, quoteText, type TableName } from './quote.ts'
import type { TableChanges } from './table.ts'

export interface PlannedTable {
  readonly table: TableChanges
  readonly oid: number
  /** Itself and its partitions, as the catalogue knows them. */
  readonly parts: string
  readonly columns: readonly string[]
}

export type Plan = ReadonlyMap<string, PlannedTable>

/** Of a table, in maps. */
export function placeOf({ schema, table }: TableName): string {
  return `${schema}\0${table}`
}

/** A refusal: what was expected of the database, what is there, and what to run. */
export function refused(option: string, text: string, cure?: string): BreakwaterError {
  const run = cure === undefined ? '' : `. Run: ${cure}`
  return new BreakwaterError('INVALID_OPTION', `postgresChanges.${option}: ${text}${run}`)
}

const installed = 'what changes.install() runs (changes.sql() prints it)'

/** By triggers: each table has those that the function of this name is called by, with its columns. */
export async function planTriggers(
  link: Link,
  name: string,
  tables: readonly TableChanges[],
): Promise<Plan> {
  const trigger = objectName(name)
  return plan(
    tables,
    async (table, oid) => {
      const found = await link.query(
        `SELECT t.tgname::text AS trigger, t.tgenabled::text AS enabled, c.relkind::text AS relkind,
         pg_catalog.obj_description(t.tgfoid, 'pg_proc') AS comment
       FROM pg_catalog.pg_class c LEFT JOIN pg_catalog.pg_trigger t
         ON t.tgrelid = c.oid AND t.tgname::text = ANY ($2)
       WHERE c.oid = $1`,
        [
          oid,
          ['row', 'insert', 'update', 'delete', 'truncate'].map((kind) => `${trigger}_${kind}`),
        ],
      )
      const text = describeTable(table)
      const needed = found[0]?.['relkind'] === 'p' ? 2 : 4
      if (found.filter(({ enabled }) => enabled === 'A').length < needed) {
        throw refused('tables', `${text} has not all of the triggers '${trigger}_…'`, installed)
      }
      const sent = columnsOf(found[0]!)
      const columns = table.columns ?? (await primaryKey(link, oid))
      const lacking = columns.filter((column) => !sent.includes(column))
      if (lacking.length > 0) {
        throw refused(
          'tables',
          `the triggers of ${text} do not send ${lacking.join(', ')}`,
          installed,
        )
      }
      return columns
    },
    link,
  )
}

function columnsOf({ comment }: Row): readonly string[] {
  try {
    const { columns } = JSON.parse(String(comment)) as { columns?: unknown }
    return Array.isArray(columns) ? columns.map(String) : []
  } catch {
    return []
  }
}

/** By replication: the publication has each table, and old rows are told with all that is asked for. */
export async function planPublication(
  link: Link,
  name: string,
  tables: readonly TableChanges[],
): Promise<Plan> {
  const publication = objectName(name)
  const [server] = await link.query(
    `SELECT current_setting('wal_level') AS level, pg_catalog.pg_is_in_recovery()::text AS recovers`,
  )
  if (server!['recovers'] !== 'false') {
    throw refused('connection', 'expected a primary server, got a standby')
  }
  if (server!['level'] !== 'logical') {
    const cure = 'ALTER SYSTEM SET wal_level = logical, and restart PostgreSQL'
    throw refused('mode', `expected wal_level logical, got ${String(server!['level'])}`, cure)
  }
  const [found] = await link.query(
    `SELECT (pubinsert AND pubupdate AND pubdelete AND pubtruncate AND pubviaroot)::text AS whole
     FROM pg_catalog.pg_publication WHERE pubname = $1`,
    [publication],
  )
  if (found === undefined) {
    throw refused('name', `there is no publication '${publication}'`, installed)
  }
  if (found['whole'] !== 'true') {
    const cure =
      `ALTER PUBLICATION ${publication} SET (publish = 'insert, update, delete, truncate', ` +
      'publish_via_partition_root = true)'
    throw refused('name', `the publication '${publication}' does not publish everything`, cure)
  }
  return plan(
    tables,
    async (table, oid) => {
      const { schema, table: bare } = table.name
      const text = describeTable(table)
      const published = await link.query(
        `SELECT (SELECT count(*) FROM pg_catalog.pg_publication_rel r
           WHERE r.prrelid = $4 AND r.prpubid = (SELECT oid FROM pg_catalog.pg_publication WHERE pubname = $1)
             AND (to_jsonb(r) ->> 'prqual' IS NOT NULL OR to_jsonb(r) ->> 'prattrs' IS NOT NULL))::text AS filters
         FROM pg_catalog.pg_publication_tables
         WHERE pubname = $1 AND schemaname = $2 AND tablename = $3`,
        [publication, schema, bare, oid],
      )
      if (published.length === 0) {
        throw refused('tables', `the publication '${publication}' has no ${text}`, installed)
      }
      if (published[0]!['filters'] !== '0') {
        const cure = `ALTER PUBLICATION ${publication} DROP TABLE ${text}, and then ${installed}`
        throw refused('tables', `'${publication}' publishes a part of ${text} alone`, cure)
      }
      const columns = table.columns ?? (await primaryKey(link, oid))
      const bad = await link.query(
        `SELECT relid::regclass::text AS part FROM
         (SELECT $1::oid AS relid UNION SELECT relid FROM pg_catalog.pg_partition_tree($1::oid::regclass)) p
       WHERE EXISTS (${unidentified('p.relid', '$2::text[]')}) LIMIT 1`,
        [oid, columns],
      )
      if (bad.length > 0) {
        const part = String(bad[0]!['part'])
        const expected = columns.length === 0 ? 'at all' : `with ${columns.join(', ')}`
        const cure = `ALTER TABLE ${part} REPLICA IDENTITY FULL`
        throw refused('tables', `old rows of ${part} are not told ${expected}`, cure)
      }
      return columns
    },
    link,
  )
}

async function plan(
  tables: readonly TableChanges[],
  columnsFor: (table: TableChanges, oid: number) => Promise<readonly string[]>,
  link: Link,
): Promise<Plan> {
  const planned = new Map<string, PlannedTable>()
  for (const table of tables) {
    const [found] = await link.query(
      `SELECT c.oid::text AS oid, ARRAY(SELECT attname::text FROM pg_catalog.pg_attribute
         WHERE attrelid = c.oid AND attnum > 0 AND NOT attisdropped)::text[] AS columns,
         c.oid || ':' || ARRAY(SELECT relid::oid FROM pg_catalog.pg_partition_tree(c.oid::regclass) ORDER BY 1)::text AS parts
       FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
       WHERE n.nspname = $1 AND c.relname = $2 AND c.relkind IN ('r', 'p')`,
      [table.name.schema, table.name.table],
    )
    const text = describeTable(table)
    if (found === undefined) throw refused('tables', `there is no table ${text}`)
    const there = found['columns'] as readonly string[]
    const absent = (table.columns ?? []).filter((column) => !there.includes(column))
    if (absent.length > 0) throw refused('tables', `${text} has no column ${absent.join(', ')}`)
    const oid = Number(found['oid'])
    const columns = await columnsFor(table, oid)
    if (table.columns === undefined && columns.length === 0) {
      throw refused('tables', `${text} has no primary key: name its columns, [] for none`)
    }
    planned.set(placeOf(table.name), { table, oid, parts: String(found['parts']), columns })
  }
  return planned
}

async function primaryKey(link: Link, oid: number): Promise<readonly string[]> {
  const rows = await link.query(
    `SELECT a.attname::text AS name
     FROM pg_catalog.pg_index x, unnest(x.indkey::int2[]) WITH ORDINALITY AS k(attnum, i), pg_catalog.pg_attribute a
     WHERE x.indrelid = $1 AND x.indisprimary AND a.attrelid = $1 AND a.attnum = k.attnum ORDER BY k.i`,
    [oid],
  )
  return rows.map(({ name }) => String(name))
}

export function describeTable({ name }: TableChanges): string {
  return quoteTable(name)
}

/** In the words of the walsender, which knows no parameters. */
export function literal(text: string): string {
  return quoteText(text)
}
