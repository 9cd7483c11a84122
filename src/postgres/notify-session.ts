/**
 * One attempt at capture by LISTEN. What was notified while nobody listened is lost, so that each
 * session begins with a gap: it listens first, then all that is affected goes, so that nothing falls
 * in between. Its heartbeat is a notification to itself: the proof that it still hears.
 */
import { randomUUID } from 'node:crypto'
import { whileAlive } from './alive.ts'
import type { Capture } from './capture.ts'
import { lead } from './leadership.ts'
import { objectName } from './names.ts'
import { parsePayload, type Told } from './payload.ts'
import { placeOf, planTriggers, type Plan } from './plan.ts'
import { quoteName } from './quote.ts'
import { rowOf } from './rows.ts'
import type { RowChange } from './table.ts'
import { Work } from './work.ts'

const beatPrefix = 'beat '

export async function notifySession(capture: Capture, why: string): Promise<void> {
  const { rules, engine } = capture
  const channel = objectName(rules.name)
  const link = await capture.open()
  try {
    let plan = await planTriggers(link, rules.name, rules.tables)
    capture.meet(plan)
    // A memory that no other process sees is its own process's to look after.
    if (engine.store !== undefined) await lead(capture, link)
    if (capture.signal.aborted) return
    let heard: ((nonce: string) => void) | undefined
    link.onNotification((on, payload) => {
      if (on !== channel) return
      if (payload.startsWith(beatPrefix)) heard?.(payload)
      else take(capture, plan, payload)
    })
    await capture.types.load(link)
    await link.query(`LISTEN ${quoteName(channel)}`)
    plan = await planTriggers(link, rules.name, rules.tables)
    capture.meet(plan)
    capture.gap(why)
    capture.say('live')

    const beat = async (): Promise<void> => {
      const nonce = beatPrefix + randomUUID()
      const back = new Promise<void>((resolve) => {
        heard = (told) => {
          if (told === nonce) resolve()
        }
      })
      await link.query('SELECT pg_catalog.pg_notify($1, $2)', [channel, nonce])
      await link.within(back, 'to notify itself')
      plan = await planTriggers(link, rules.name, rules.tables)
      capture.meet(plan)
      if (capture.types.isOutdated) await capture.types.load(link)
    }
    await whileAlive(capture, [link], { work: async () => {}, beat })
  } finally {
    await link.close()
  }
}

function take(capture: Capture, plan: Plan, payload: string): void {
  const told = parsePayload(payload)
  if (told === undefined) return
  const planned = plan.get(placeOf(told))
  if (planned === undefined) return
  const { table, columns } = planned
  const work = new Work()
  switch (told.kind) {
    case 'truncate':
      capture.gapIn(work, 'TRUNCATE', [table])
      break
    case 'many':
      capture.gapIn(work, 'a statement that changed many rows', [table])
      break
    case 'long':
      capture.gapIn(work, 'a row too long for a notification', [table])
      break
    case 'something':
      capture.gapIn(work, 'a trigger that failed', [table])
      break
    case 'insert':
    case 'update':
    case 'delete':
      for (const row of told.rows) {
        capture.change(work, table, changeOf(capture, told, row, columns))
      }
  }
  capture.taker.add(work)
}

function changeOf(
  { types }: Capture,
  told: Told,
  cells: Told['rows'][number],
  wanted: readonly string[],
): RowChange<Record<string, unknown>> | undefined {
  const columns = told.columns.map((name, at) => ({ name, type: told.types[at] ?? 0 }))
  const row = cells.row && rowOf(wanted, { columns, cells: cells.row }, types)
  const old = cells.old && rowOf(wanted, { columns, cells: cells.old }, types)
  switch (told.kind) {
    case 'insert':
      return row && { kind: 'insert', row, old: undefined }
    case 'update':
      return row && old && { kind: 'update', row, old }
    default:
      return old && { kind: 'delete', row: undefined, old }
  }
}
