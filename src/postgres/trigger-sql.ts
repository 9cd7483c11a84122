/**
 * What `mode: 'notify'` needs in the database, as text: one function per table and triggers that call
 * it once per statement, with all of its rows (of a partitioned table, whose partitions inherit only
 * that, once per row). A row is its values in the type's own text form, as `pg` and pgoutput have it.
 *
 * Invariant: the function never makes the user's statement fail. Whatever goes wrong in it, it says
 * that something of this table has changed.
 */
import { createHash } from 'node:crypto'
import { objectName } from './names.ts'
import { quoteBody, quoteName, quoteTable, quoteText, type TableName } from './quote.ts'

export interface SqlTable {
  readonly name: TableName
  /** `undefined`: the primary key. */
  readonly columns: readonly string[] | undefined
}

/** More rows in one statement are told as "all of it". */
export const mostRows = 2_000
/** PostgreSQL refuses 8,000 bytes and more. */
const mostBytes = 7_800

export function triggerFunction(name: string, { name: table }: SqlTable): string {
  const digest = digestOf([table.schema, table.table]).slice(0, 8)
  return `${quoteName(table.schema)}.${quoteName(`${objectName(name)}_${digest}`)}`
}

/** May be run again and again: it makes what is missing and changes what has changed. */
export function triggersFor(name: string, tables: readonly SqlTable[]): string {
  return tables.map((table) => installOne(name, table)).join('\n\n')
}

export function noTriggersFor(name: string, tables: readonly SqlTable[]): string {
  return tables
    .map((table) => `DROP FUNCTION IF EXISTS ${triggerFunction(name, table)}() CASCADE;`)
    .join('\n')
}

function digestOf(names: readonly string[]): string {
  return createHash('sha256').update(JSON.stringify(names)).digest('hex')
}

function installOne(name: string, table: SqlTable): string {
  const fn = triggerFunction(name, table)
  const on = quoteTable(table.name)
  const trigger = objectName(name)
  const columns = table.columns
  const mark = digestOf([table.name.schema, table.name.table, ...(columns ?? [])]).slice(0, 16)
  return `-- ${[table.name.schema, table.name.table].join('.').replaceAll(/[\r\n]/g, ' ')}
DO ${quoteBody(
    `DECLARE
  target CONSTANT regclass := ${quoteText(on)}::regclass;
  cols text[] := ${columns === undefined ? keyOf : arrayOf(columns)};
  body text := ${quoteBody(bodyOf(name, table.name).replaceAll('<<', `<<${mark} `))};
  texts text; types text; part regclass; kind text;
BEGIN
  IF cols IS NULL THEN
    RAISE EXCEPTION '% has no primary key: name its columns', target;
  END IF;
  -- What another version or another cache asks for stays, as long as it is there.
  SELECT cols || coalesce(array_agg(c ORDER BY i) FILTER (WHERE c <> ALL (cols)), '{}') INTO cols
  FROM json_array_elements_text(coalesce((SELECT obj_description(p.oid, 'pg_proc')::json -> 'columns' FROM pg_catalog.pg_proc p
    WHERE p.oid = to_regprocedure(${quoteText(`${fn}()`)})), '[]')) WITH ORDINALITY AS before(c, i)
  WHERE EXISTS (SELECT FROM pg_catalog.pg_attribute WHERE attrelid = target AND attname = c AND NOT attisdropped);
  -- Written out, so that a statement runs no SQL that has to be put together.
  FOREACH kind IN ARRAY ARRAY['o', 'n', 'x', 'OLD', 'NEW'] LOOP
    SELECT coalesce(string_agg(format(
      'CASE WHEN %1$s.%2$I IS NOT DISTINCT FROM NULL THEN NULL ELSE format(''%%s'', %1$s.%2$I) END',
      kind, c), ', ' ORDER BY i), ''),
      coalesce(string_agg(format('pg_typeof(%s.%I)::oid::text', kind, c), ', ' ORDER BY i), '')
    INTO texts, types FROM unnest(cols) WITH ORDINALITY AS u(c, i);
    body := replace(replace(body, '<<${mark} texts of ' || kind || '>>', texts), '<<${mark} types of ' || kind || '>>', types);
  END LOOP;
  body := replace(body, '<<${mark} columns>>', replace(to_json(cols)::text, '''', ''''''));
  EXECUTE 'CREATE OR REPLACE FUNCTION ' || ${quoteText(fn)} || '() RETURNS trigger LANGUAGE plpgsql '
    || 'SET search_path = pg_catalog, pg_temp SET datestyle = ''ISO, MDY'' SET timezone = ''UTC'' '
    || 'SET intervalstyle = ''postgres'' SET bytea_output = ''hex'' SET extra_float_digits = 1 '
    || 'AS ' || quote_literal(body);
  EXECUTE format('COMMENT ON FUNCTION %s() IS %L', ${quoteText(fn)},
    json_build_object('breakwater', 1, 'columns', cols)::text);
  IF (SELECT relkind FROM pg_catalog.pg_class WHERE oid = target) = 'p' THEN
    IF NOT EXISTS (${hasTrigger('target', `${trigger}_row`)}) THEN
      EXECUTE format('CREATE TRIGGER %I AFTER INSERT OR UPDATE OR DELETE ON %s FOR EACH ROW EXECUTE FUNCTION %s()',
        ${quoteText(`${trigger}_row`)}, target, ${quoteText(fn)});
    END IF;
    EXECUTE format('ALTER TABLE %s ENABLE ALWAYS TRIGGER %I', target, ${quoteText(`${trigger}_row`)});
  ELSE
    FOREACH kind IN ARRAY ARRAY['insert', 'update', 'delete'] LOOP
      IF NOT EXISTS (${hasTrigger('target', undefined, `${quoteText(`${trigger}_`)} || kind`)}) THEN
        EXECUTE format('CREATE TRIGGER %I AFTER %s ON %s REFERENCING %s %s FOR EACH STATEMENT EXECUTE FUNCTION %s()',
          ${quoteText(`${trigger}_`)} || kind, upper(kind), target,
          CASE WHEN kind <> 'insert' THEN 'OLD TABLE AS bw_old' ELSE '' END,
          CASE WHEN kind <> 'delete' THEN 'NEW TABLE AS bw_new' ELSE '' END, ${quoteText(fn)});
      END IF;
      EXECUTE format('ALTER TABLE %s ENABLE ALWAYS TRIGGER %I', target, ${quoteText(`${trigger}_`)} || kind);
    END LOOP;
  END IF;
  FOR part IN SELECT target UNION SELECT relid FROM pg_catalog.pg_partition_tree(target) LOOP
    IF NOT EXISTS (${hasTrigger('part', `${trigger}_truncate`)}) THEN
      EXECUTE format('CREATE TRIGGER %I AFTER TRUNCATE ON %s FOR EACH STATEMENT EXECUTE FUNCTION %s()',
        ${quoteText(`${trigger}_truncate`)}, part, ${quoteText(fn)});
    END IF;
    EXECUTE format('ALTER TABLE %s ENABLE ALWAYS TRIGGER %I', part, ${quoteText(`${trigger}_truncate`)});
  END LOOP;
END`,
  )};`
}

const keyOf = `(SELECT array_agg(a.attname::text ORDER BY k.i)
    FROM pg_catalog.pg_index x, unnest(x.indkey::int2[]) WITH ORDINALITY AS k(attnum, i), pg_catalog.pg_attribute a
    WHERE x.indrelid = target AND x.indisprimary AND a.attrelid = target AND a.attnum = k.attnum)`

function arrayOf(columns: readonly string[]): string {
  return `ARRAY[${columns.map(quoteText).join(', ')}]::text[]`
}

function hasTrigger(table: string, trigger: string | undefined, expression?: string): string {
  const name = expression ?? quoteText(trigger!)
  return `SELECT FROM pg_catalog.pg_trigger WHERE tgrelid = ${table} AND tgname = ${name}`
}

/** `<<…>>` is filled in where the columns are known, by a mark that no name has by chance. */
function bodyOf(name: string, table: TableName): string {
  const channel = quoteText(objectName(name))
  const head = quoteText(`{"t":${JSON.stringify([table.schema, table.table])},"c":`)
  return `
DECLARE
  head CONSTANT text := ${head} || '<<columns>>';
  item text; items text := ''; kinds text := ''; total bigint;
BEGIN
  IF TG_OP = 'TRUNCATE' THEN
    PERFORM pg_notify(${channel}, head || ',"k":"t"}');
    RETURN NULL;
  ELSIF TG_LEVEL = 'ROW' THEN
    ${rowLevel(channel)}
    RETURN NULL;
  ELSIF TG_OP = 'INSERT' THEN
    SELECT count(*) INTO total FROM (SELECT FROM bw_new LIMIT ${mostRows + 1}) AS few;
  ELSE
    SELECT count(*) INTO total FROM (SELECT FROM bw_old LIMIT ${mostRows + 1}) AS few;
  END IF;
  IF total = 0 THEN RETURN NULL; END IF;
  IF total > ${mostRows} THEN
    PERFORM pg_notify(${channel}, head || ',"k":"many"}');
    RETURN NULL;
  END IF;
  IF TG_OP = 'INSERT' THEN
    SELECT json_build_array(<<types of x>>)::text INTO kinds FROM bw_new AS x LIMIT 1;
    FOR item IN SELECT json_build_array(<<texts of n>>)::text FROM bw_new AS n LOOP
      ${send(channel, 'i')}
    END LOOP;
  ELSIF TG_OP = 'DELETE' THEN
    SELECT json_build_array(<<types of x>>)::text INTO kinds FROM bw_old AS x LIMIT 1;
    FOR item IN SELECT json_build_array(<<texts of o>>)::text FROM bw_old AS o LOOP
      ${send(channel, 'd')}
    END LOOP;
  ELSE
    SELECT json_build_array(<<types of x>>)::text INTO kinds FROM bw_new AS x LIMIT 1;
    -- Each row is put into both tables at one time: the same place in both is the same row.
    FOR item IN
      SELECT '[' || a.item || ',' || b.item || ']' FROM
        (SELECT json_build_array(<<texts of o>>)::text AS item, row_number() OVER () AS i FROM bw_old AS o) AS a
        JOIN (SELECT json_build_array(<<texts of n>>)::text AS item, row_number() OVER () AS i FROM bw_new AS n) AS b
        USING (i)
    LOOP
      ${send(channel, 'u')}
    END LOOP;
  END IF;
  IF items <> '' THEN
    PERFORM pg_notify(${channel}, head || ',"k":"' || lower(left(TG_OP, 1)) || '","y":' || kinds || ',"r":[' || items || ']}');
  END IF;
  RETURN NULL;
EXCEPTION WHEN OTHERS THEN
  -- A column that was dropped or renamed, say. The write itself goes on.
  PERFORM pg_notify(${channel}, head || ',"k":"?"}');
  RETURN NULL;
END`
}

/** As many rows in one message as fit. */
function send(channel: string, kind: string): string {
  return `IF octet_length(head) + octet_length(kinds) + octet_length(item) > ${mostBytes - 60} THEN
        PERFORM pg_notify(${channel}, head || ',"k":"long"}');
        CONTINUE;
      END IF;
      IF items <> '' AND octet_length(head) + octet_length(kinds) + octet_length(items) + octet_length(item) > ${mostBytes - 60} THEN
        PERFORM pg_notify(${channel}, head || ',"k":"${kind}","y":' || kinds || ',"r":[' || items || ']}');
        items := '';
      END IF;
      items := CASE items WHEN '' THEN item ELSE items || ',' || item END;`
}

function rowLevel(channel: string): string {
  const types = (record: string): string => `json_build_array(<<types of ${record}>>)::text`
  const texts = (record: string): string => `json_build_array(<<texts of ${record}>>)::text`
  const one = (kind: string, record: string, item: string): string => `
      items := head || ',"k":"${kind}","y":' || ${types(record)} || ',"r":[' || ${item} || ']}';`
  return `IF TG_OP = 'INSERT' THEN${one('i', 'NEW', texts('NEW'))}
    ELSIF TG_OP = 'DELETE' THEN${one('d', 'OLD', texts('OLD'))}
    ELSE${one('u', 'NEW', `'[' || ${texts('OLD')} || ',' || ${texts('NEW')} || ']'`)}
    END IF;
    PERFORM pg_notify(${channel}, CASE WHEN octet_length(items) > ${mostBytes} THEN head || ',"k":"long"}' ELSE items END);`
}
