/** Names and texts in SQL. Whatever they contain, they stay one name or one text. */

export function quoteName(name: string): string {
  return `"${name.replaceAll('"', '""')}"`
}

/** In any setting of standard_conforming_strings. */
export function quoteText(text: string): string {
  const quoted = `'${text.replaceAll("'", "''").replaceAll('\\', '\\\\')}'`
  return text.includes('\\') ? ` E${quoted}` : quoted
}

export interface TableName {
  readonly schema: string
  readonly table: string
}

export function quoteTable({ schema, table }: TableName): string {
  return `${quoteName(schema)}.${quoteName(table)}`
}

/** A body between dollar quotes that it cannot end. */
export function quoteBody(body: string): string {
  let tag = '$bw$'
  for (let n = 0; body.includes(tag); n++) tag = `$bw${n}$`
  return `${tag}\n${body}\n${tag}`
}
