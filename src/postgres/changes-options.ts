/** The options of `postgresChanges`, checked once, in one place. */
import type { Cache } from '../api.ts'
import { engineOf } from '../cache/companions.ts'
import type { Engine } from '../cache/engine.ts'
import { byteSize } from '../core/byte-size.ts'
import { durationMs } from '../core/duration.ts'
import { invalidOption } from '../core/errors.ts'
import { checkNames } from '../core/option-names.ts'
import { checkedName } from './names.ts'
import type { ChangesMode, PostgresChangesOptions, PostgresConnection } from './option-types.ts'
import { placeOf } from './plan.ts'
import type { TableChanges } from './table.ts'

export interface ChangesRules {
  readonly cache: Cache
  readonly connection: PostgresConnection
  readonly mode: ChangesMode
  readonly name: string
  readonly tables: readonly TableChanges[]
  readonly settleMs: number
  readonly heartbeatMs: number
  /** Of everything that a connection is asked. */
  readonly deadlineMs: number
  readonly mostPending: number
  readonly warnBytes: number
  readonly dropBytes: number
}

const names = new Set([
  'cache',
  'connection',
  'mode',
  'name',
  'tables',
  'settle',
  'heartbeat',
  'maxPending',
  'lag',
])
const at = 'postgresChanges'
const leastDeadlineMs = 3_000

export function resolveChanges(options: PostgresChangesOptions): {
  readonly rules: ChangesRules
  readonly engine: Engine
} {
  const given = checkNames(options, { names }, `${at}.`)
  const { connection, mode, settle = 0, heartbeat = '5s', maxPending = 20_000, lag = {} } = given
  // checkNames makes a copy, and a cache is known by identity.
  const { cache } = options
  const engine = engineOf(cache)
  if (engine === undefined) throw invalidOption(`${at}.cache`, 'what createCache has made', cache)
  const isConfig = typeof connection === 'object' && connection !== null
  if (!isConfig && (typeof connection !== 'string' || connection === '')) {
    throw invalidOption(`${at}.connection`, 'an address or a configuration for pg', connection)
  }
  if (mode !== 'notify' && mode !== 'replication') {
    throw invalidOption(`${at}.mode`, "'notify' or 'replication'", mode)
  }
  if (mode === 'replication' && engine.store === undefined) {
    const expected =
      "'notify' for a cache without a store: each process would need a slot of its own"
    throw invalidOption(`${at}.mode`, expected, mode)
  }
  if (typeof maxPending !== 'number' || !Number.isInteger(maxPending) || maxPending < 1) {
    throw invalidOption(`${at}.maxPending`, 'a whole number of at least 1', maxPending)
  }
  const { warn = '256MiB', drop = '4GiB' } = checkNames(
    lag,
    { names: new Set(['warn', 'drop']) },
    `${at}.lag.`,
  )
  const heartbeatMs = durationMs(heartbeat, `${at}.heartbeat`)
  const rules: ChangesRules = {
    cache,
    connection: connection as PostgresConnection,
    mode,
    name: checkedName(given['name'], `${at}.name`),
    tables: checkedTables(given['tables']),
    settleMs: durationMs(settle, `${at}.settle`, { allowZero: true }),
    heartbeatMs,
    deadlineMs: Math.max(heartbeatMs, leastDeadlineMs),
    mostPending: maxPending,
    warnBytes: byteSize(warn, `${at}.lag.warn`),
    dropBytes: drop === false ? Infinity : byteSize(drop, `${at}.lag.drop`),
  }
  return { rules, engine }
}

export function checkedTables(tables: unknown): readonly TableChanges[] {
  const option = `${at}.tables`
  if (!Array.isArray(tables) || tables.length === 0 || !tables.every(isTable)) {
    throw invalidOption(option, 'a list of what onTable() has made', tables)
  }
  const places = tables.map(({ name }) => placeOf(name))
  if (new Set(places).size < places.length) throw invalidOption(option, 'each table once', tables)
  return tables
}

function isTable(table: unknown): table is TableChanges {
  return typeof table === 'object' && table !== null && 'affects' in table && 'change' in table
}
