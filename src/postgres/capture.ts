/**
 * What both modes share: where changes go, what counts as a gap, and what is told of it. It lives as
 * long as the capture does; a session is one attempt at it, with connections of its own.
 */
import type { Cache } from '../api.ts'
import type { Engine } from '../cache/engine.ts'
import { changeTags } from '../cache/tag-changes.ts'
import type { ChangesHealth } from '../core/events.ts'
import { messageOf } from '../core/errors.ts'
import { everything, resourceLabel } from '../core/labels.ts'
import type { ChangesRules } from './changes-options.ts'
import { ColumnTypes } from './column-types.ts'
import { Link } from './link.ts'
import { mapInto } from './mapping.ts'
import { slotName } from './names.ts'
import type { Plan } from './plan.ts'
import type { RowChange, TableChanges } from './table.ts'
import { Taker } from './taker.ts'
import { Work, type Whole } from './work.ts'

export type ChangesState = ChangesHealth['state']

export interface Totals {
  changes: number
  keys: number
  gaps: number
}

export class Capture {
  readonly rules: ChangesRules
  readonly engine: Engine
  readonly taker: Taker
  readonly types = new ColumnTypes()
  readonly totals: Totals = { changes: 0, keys: 0, gaps: 0 }
  /** Of the log that is held for us. */
  heldBytes = 0
  state: ChangesState = 'connecting'
  why: string | undefined
  /** Of this cache, in replication. */
  readonly slot: string
  /** The temporary one that is to become it: it holds log, too. */
  making: string | undefined
  /** Set when changes may have been missed that no slot and no session will bring. */
  owed: string | undefined
  /** System and timeline that were streamed from. */
  server: string | undefined
  readonly #tables = new Map<TableChanges, string>()
  readonly #links = new Set<Link>()
  readonly #closing = new AbortController()
  #saidLag = false

  constructor(rules: ChangesRules, engine: Engine) {
    this.rules = rules
    this.engine = engine
    this.slot = slotName(rules.name, engine.namespace)
    this.taker = new Taker({
      cache: rules.cache,
      clock: engine.clock,
      settleMs: rules.settleMs,
      most: rules.mostPending,
      clear: (whole) => this.#clear(whole),
      onGap: (why, tables) => this.#tellGap(why, tables),
      onTaken: (told) => {
        this.totals.changes += told.changes
        this.totals.keys += told.keys
        engine.listeners.tell('changesTaken', () => ({ name: rules.name, ...told }))
      },
    })
  }

  get signal(): AbortSignal {
    return this.#closing.signal
  }

  end(): void {
    this.#closing.abort()
  }

  say(state: ChangesState, why?: unknown): void {
    const text = why === undefined ? undefined : messageOf(why)
    if (state === this.state && text === this.why) return
    this.state = state
    this.why = text
    const { name } = this.rules
    this.engine.listeners.tell('changes', () => ({
      name,
      state,
      ...(text === undefined ? {} : { why: text }),
      ...(why instanceof Error ? { error: why } : {}),
    }))
  }

  /** For whoever ends it himself. */
  connect(replication = false): Promise<Link> {
    const { connection, name, deadlineMs } = this.rules
    return Link.open({ connection, name, deadlineMs, clock: this.engine.clock, replication })
  }

  /** For a session, and it ends with that. */
  async open(replication = false): Promise<Link> {
    const link = await this.connect(replication)
    this.#links.add(link)
    void link.ended.then(() => this.#links.delete(link))
    // The session that wanted it may be over by now.
    if (this.signal.aborted) await link.close()
    return link
  }

  /** What a session has left, in the middle of something that does not end. */
  endLinks(): void {
    for (const link of this.#links) link.fail(new Error('the session has ended'))
  }

  /** What is owed is done as soon as the database is as it must be, whoever leads. */
  payGap(): void {
    if (this.owed !== undefined) this.gap(this.owed)
    this.owed = undefined
  }

  pause(ms: number): Promise<void> {
    const { signal } = this
    return new Promise((resolve) => {
      if (signal.aborted) return resolve()
      const done = (): void => {
        stop()
        signal.removeEventListener('abort', done)
        resolve()
      }
      const stop = this.engine.clock.after(ms, done)
      signal.addEventListener('abort', done)
    })
  }

  /** Changes of these tables may have been missed: what they affect goes as a whole. */
  gap(why: string, tables: readonly TableChanges[] = this.rules.tables): void {
    const work = new Work()
    this.gapIn(work, why, tables)
    this.taker.add(work)
  }

  gapIn(work: Work, why: string, tables: readonly TableChanges[]): void {
    const affected = tables.flatMap(({ affects }) => affects)
    if (affected.every((whole) => work.whole.has(whole))) return
    for (const whole of affected) work.addWhole(whole)
    this.#tellGap(why, tables)
  }

  /** One row's change; `undefined`: the database has not told enough of it. */
  change(
    work: Work,
    table: TableChanges,
    change: RowChange<Record<string, unknown>> | undefined,
  ): void {
    if (change === undefined) return this.gapIn(work, 'a change without its columns', [table])
    try {
      mapInto(work, table, change)
    } catch (error) {
      const { schema, table: name } = table.name
      const told = { name: `${schema}.${name}`, key: '', callback: 'change', error }
      this.engine.listeners.tell('callbackFailed', () => told)
      this.gapIn(work, 'a mapping that threw', [table])
    }
    this.taker.bound(work)
  }

  /** A table of the same name that is another one, or has other parts, holds rows that nobody told of. */
  meet(plan: Plan): void {
    for (const { table, parts } of plan.values()) {
      const before = this.#tables.get(table)
      this.#tables.set(table, parts)
      if (before !== undefined && before !== parts)
        this.gap('another table, or other parts', [table])
    }
  }

  lag(heldBytes: number): void {
    this.heldBytes = heldBytes
    const isOver = heldBytes > this.rules.warnBytes
    if (isOver === this.#saidLag) return
    this.#saidLag = isOver
    this.tellLag(isOver ? 'over' : 'under')
  }

  tellLag(state: 'over' | 'under' | 'dropped'): void {
    const { name } = this.rules
    const { heldBytes } = this
    this.engine.listeners.tell('changesLag', () => ({ name, state, heldBytes }))
  }

  async #clear(whole: Whole): Promise<void> {
    const { settleMs, cache } = this.rules
    if (settleMs === 0) return whole.clear()
    const label = isCache(whole, cache) ? everything : resourceLabel(whole.name)
    await changeTags(this.engine, [label], { what: 'invalidate', settleMs })
  }

  #tellGap(why: string, tables: readonly TableChanges[]): void {
    this.totals.gaps++
    const { name, cache } = this.rules
    this.engine.listeners.tell('changesGap', () => {
      const affected = new Set(tables.flatMap(({ affects }) => affects))
      const definitions = [...affected].map((one) => (isCache(one, cache) ? '' : one.name))
      return { name, why, definitions }
    })
  }
}

function isCache(whole: Whole, cache: Cache): whole is Cache {
  return (whole as unknown) === cache
}
