/**
 * A column's text to what `pg` makes of its type, with the parsers that are set in `pg` (they may be
 * the user's own). A query is told the type that a domain stands for, a change the domain itself: so
 * domains are looked up here. A type that is not known yet gives no value, and never a wrong one.
 */
import pg from 'pg'
import type { Link } from './link.ts'

const firstUserOid = 16_384

export class ColumnTypes {
  #base: ReadonlyMap<number, number> = new Map()
  #isOutdated = true

  get isOutdated(): boolean {
    return this.#isOutdated
  }

  async load(link: Link): Promise<void> {
    this.#isOutdated = false
    const rows = await link.query(
      `WITH RECURSIVE based(oid, base) AS (
         SELECT oid, oid FROM pg_catalog.pg_type WHERE typtype <> 'd'
         UNION ALL
         SELECT t.oid, based.base FROM pg_catalog.pg_type t JOIN based ON t.typbasetype = based.oid
         WHERE t.typtype = 'd'
       ) SELECT oid::text, base::text FROM based WHERE oid >= ${firstUserOid}`,
    )
    this.#base = new Map(rows.map(({ oid, base }) => [Number(oid), Number(base)]))
  }

  /** `undefined`: it is not known what type this is. */
  parserOf(oid: number): ((text: string) => unknown) | undefined {
    const base = oid < firstUserOid ? oid : this.#base.get(oid)
    if (base !== undefined) return pg.types.getTypeParser(base, 'text') as (text: string) => unknown
    this.#isOutdated = true
    return undefined
  }
}
