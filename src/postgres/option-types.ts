/** What users give to `postgresChanges`. Checked in changes-options.ts. */
import type { Bytes, Cache, Duration } from '../api.ts'
import type { TableChanges } from './table.ts'

export type PostgresConnection = string | Readonly<Record<string, unknown>>

export type ChangesMode = 'notify' | 'replication'

export interface PostgresChangesOptions {
  /** Whose entries the changes reach. The capture ends with it. */
  cache: Cache
  /** What `new Client(…)` of `pg` takes: an address or a configuration. Straight to the server, not by a pooler. */
  connection: PostgresConnection
  /** `'notify'`: triggers and LISTEN. `'replication'`: a logical replication slot. */
  mode: ChangesMode
  /** The same in every process that captures the same changes: `[a-z][a-z0-9_]{0,31}`. */
  name: string
  /** Made by `onTable`. */
  tables: readonly TableChanges[]
  /** How long the loaders' source may lag behind (they read from replicas). Default `0`. */
  settle?: Duration | undefined
  /** How often connections prove that they live, and what is in the database is looked at. Default `'5s'`. */
  heartbeat?: Duration | undefined
  /** More pending keys and tags than this are invalidated as whole definitions. Default `20_000`. */
  maxPending?: number | undefined
  /**
   * Log that the slot holds back on the server's disk. Over `warn` (default `'256MiB'`) `health()` is
   * degraded; over `drop` (default `'4GiB'`; `false`: never) the slot is dropped, and what is
   * affected is invalidated as a whole.
   */
  lag?: { warn?: Bytes | undefined; drop?: Bytes | false | undefined } | undefined
}
