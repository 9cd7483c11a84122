/**
 * What `mode: 'replication'` needs in the database beside a right, as text: a publication with the
 * tables, and for each table that its old rows are told, where more of them is asked for than the
 * primary key. No lists of columns: with one that does not cover the replica identity PostgreSQL
 * refuses the user's own writes.
 */
import { objectName } from './names.ts'
import { quoteBody, quoteName, quoteTable, quoteText } from './quote.ts'
import type { SqlTable } from './trigger-sql.ts'

/** May be run again and again. */
export function publicationFor(name: string, tables: readonly SqlTable[]): string {
  const publication = objectName(name)
  const made = `DO ${quoteBody(`BEGIN
  IF NOT EXISTS (SELECT FROM pg_catalog.pg_publication WHERE pubname = ${quoteText(publication)}) THEN
    CREATE PUBLICATION ${quoteName(publication)}
      WITH (publish = 'insert, update, delete, truncate', publish_via_partition_root = true);
  END IF;
END`)};`
  return [made, ...tables.map((table) => addTable(publication, table))].join('\n\n')
}

export function noPublicationFor(name: string, slot: string): string {
  const named = quoteText(slot)
  return `DROP PUBLICATION IF EXISTS ${quoteName(objectName(name))};
SELECT pg_catalog.pg_drop_replication_slot(slot_name) FROM pg_catalog.pg_replication_slots
  WHERE slot_name = ${named} AND NOT active AND database = current_database();`
}

function addTable(publication: string, { name, columns }: SqlTable): string {
  const table = quoteTable(name)
  const asked =
    columns === undefined ? 'NULL' : `ARRAY[${columns.map(quoteText).join(', ')}]::text[]`
  return `-- ${[name.schema, name.table].join('.').replaceAll(/[\r\n]/g, ' ')}
DO ${quoteBody(`DECLARE
  target CONSTANT regclass := ${quoteText(table)}::regclass;
  asked CONSTANT text[] := ${asked};
  part regclass;
BEGIN
  IF NOT EXISTS (SELECT FROM pg_catalog.pg_publication_rel r JOIN pg_catalog.pg_publication p ON p.oid = r.prpubid
      WHERE p.pubname = ${quoteText(publication)} AND r.prrelid = target)
    AND NOT (SELECT puballtables FROM pg_catalog.pg_publication WHERE pubname = ${quoteText(publication)})
  THEN
    ALTER PUBLICATION ${quoteName(publication)} ADD TABLE ONLY ${table};
  END IF;
  -- So that old rows are told with all that is asked of them.
  FOR part IN SELECT target UNION SELECT relid FROM pg_catalog.pg_partition_tree(target) LOOP
    IF EXISTS (${unidentified('part', 'asked')}) THEN
      EXECUTE format('ALTER TABLE %s REPLICA IDENTITY FULL', part);
    END IF;
  END LOOP;
END`)};`
}

/**
 * Has a row where the old rows of a table are told without what is asked for (NULL: nothing but a
 * key), or where it has no identity, and PostgreSQL refuses updates of what is published.
 */
export function unidentified(table: string, asked: string): string {
  return `SELECT FROM pg_catalog.pg_class c WHERE c.oid = ${table} AND c.relreplident <> 'f' AND (
      NOT EXISTS (SELECT FROM pg_catalog.pg_index x WHERE x.indrelid = c.oid
        AND CASE c.relreplident WHEN 'd' THEN x.indisprimary ELSE x.indisreplident END)
      OR EXISTS (SELECT FROM unnest(${asked}) AS a(name) WHERE a.name NOT IN (
        SELECT t.attname FROM pg_catalog.pg_index x JOIN pg_catalog.pg_attribute t
          ON t.attrelid = x.indrelid AND t.attnum = ANY (x.indkey)
        WHERE x.indrelid = c.oid
          AND CASE c.relreplident WHEN 'd' THEN x.indisprimary ELSE x.indisreplident END)))`
}
