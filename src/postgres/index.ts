/**
 * `breakwater/postgres`: invalidation and refresh from PostgreSQL's own changes, by triggers and
 * LISTEN or by logical replication. A change is taken at least once; where one may have been missed,
 * everything that it could have affected is invalidated instead.
 */
import type { ChangesHealth } from '../core/events.ts'
import { checkedTables, resolveChanges } from './changes-options.ts'
import { checkedName } from './names.ts'
import type { PostgresChangesOptions } from './option-types.ts'
import { PostgresCapture } from './postgres-changes.ts'
import { publicationFor } from './publication-sql.ts'
import type { TableChanges } from './table.ts'
import { triggersFor } from './trigger-sql.ts'

export {
  expire,
  expireTags,
  invalidate,
  invalidateAll,
  invalidateTags,
  refresh,
  type ChangeAction,
  type Changeable,
} from './actions.ts'
export type { ChangesMode, PostgresChangesOptions, PostgresConnection } from './option-types.ts'
export type { TableName } from './quote.ts'
export { onTable, type RowChange, type TableChanges, type TableOptions } from './table.ts'
export type { ChangesHealth } from '../core/events.ts'

export interface PostgresChanges extends AsyncDisposable {
  /**
   * Begins to capture. Resolves when the first attempt is over: `live`, `standby` (another process
   * captures) or `lost` (the database is not there; it is tried again, and the cache works without);
   * after a few seconds in any case, since a slot waits for older transactions to end.
   *
   * @throws BreakwaterError `INVALID_OPTION` where the database is not as it must be (no triggers, no
   * publication, a right that is missing), with the SQL that helps; it is tried again all the same.
   * `CLOSED` after `close`.
   */
  start(): Promise<void>
  /** What `install` runs: triggers, or a publication. May be run again and again. */
  sql(): string
  /** Runs it, as the role that connects: the owner of the tables, or a superuser. */
  install(): Promise<void>
  uninstallSql(): string
  /** Run it where no process captures any more. */
  uninstall(): Promise<void>
  /** A snapshot, without asking anybody. */
  health(): ChangesHealth
  /** Ends its connections. What was not taken yet is brought again by a slot, and is a gap without one. Idempotent. */
  close(): Promise<void>
}

/**
 * Captures changes for a cache. In a fleet, every process makes one: one of them works, the others
 * wait to take over. Keeps no process alive, and ends with the cache.
 *
 * @throws BreakwaterError `INVALID_OPTION`.
 */
export function postgresChanges(options: PostgresChangesOptions): PostgresChanges {
  const { rules, engine } = resolveChanges(options)
  const capture = new PostgresCapture(rules, engine)
  return {
    start: () => capture.start(),
    sql: () => capture.sql(),
    install: () => capture.execute(capture.sql()),
    uninstallSql: () => capture.uninstallSql(),
    uninstall: () => capture.execute(capture.uninstallSql()),
    health: () => capture.describe(),
    close: () => capture.close(),
    [Symbol.asyncDispose]: () => capture.close(),
  }
}

/** The SQL of `mode: 'notify'`, for a migration, without a cache. */
export function triggerSql(name: string, tables: readonly TableChanges[]): string {
  return triggersFor(checkedName(name, 'triggerSql.name'), checkedTables(tables))
}

/** The SQL of `mode: 'replication'`, for a migration, without a cache. */
export function publicationSql(name: string, tables: readonly TableChanges[]): string {
  return publicationFor(checkedName(name, 'publicationSql.name'), checkedTables(tables))
}
