/**
 * The replication slot: what the server keeps for us, and where we are in it.
 *
 * A new one becomes ours in three steps, so that a crash between any two of them is a gap that the
 * next process sees: a temporary slot, which dies with its connection; what is affected goes as a
 * whole; the temporary slot is copied to the name. A slot of the name is thus one whose gap is closed.
 */
import { randomBytes } from 'node:crypto'
import type { BreakwaterError } from '../core/errors.ts'
import type { Capture } from './capture.ts'
import { sqlState, type Link } from './link.ts'
import { lsnOf } from './lsn.ts'
import { literal, refused } from './plan.ts'

export interface Slot {
  readonly activePid: number | undefined
  readonly confirmed: bigint
  /** Of the log, on the server's disk. */
  readonly heldBytes: number
  /** It can give nothing any more. */
  readonly isLost: boolean
}

export async function readSlot(link: Link, slot: string): Promise<Slot | undefined> {
  const [row] = await link.query(
    `SELECT plugin::text, (database = current_database())::text AS here, active_pid::text AS pid,
       wal_status::text AS status, confirmed_flush_lsn::text AS confirmed,
       pg_catalog.pg_wal_lsn_diff(pg_catalog.pg_current_wal_lsn(), restart_lsn)::text AS held,
       (coalesce(to_jsonb(s) ->> 'invalidation_reason', '') <> '' OR restart_lsn IS NULL)::text AS invalid
     FROM pg_catalog.pg_replication_slots s WHERE slot_name = $1`,
    [slot],
  )
  if (row === undefined) return undefined
  if (row['plugin'] !== 'pgoutput' || row['here'] !== 'true') {
    throw refused('name', `the replication slot '${slot}' is another plugin's or database's`)
  }
  return {
    activePid: row['pid'] === null ? undefined : Number(row['pid']),
    confirmed: lsnOf((row['confirmed'] as string | null) ?? '0/0'),
    heldBytes: Number(row['held'] ?? 0),
    isLost: row['status'] === 'lost' || row['invalid'] === 'true',
  }
}

/** Ends whoever streams from it, too. */
export async function dropSlot(capture: Capture, link: Link, slot: string): Promise<void> {
  for (let attempt = 1; !capture.signal.aborted; attempt++) {
    try {
      await freeSlot(link, slot)
      await link.query(
        `SELECT pg_catalog.pg_drop_replication_slot(slot_name)
         FROM pg_catalog.pg_replication_slots WHERE slot_name = $1`,
        [slot],
      )
      return
    } catch (error) {
      // 55006: it is in use; 42704: somebody else has dropped it.
      if (sqlState(error) === '42704') return
      if (sqlState(error) !== '55006' || attempt === 50) throw error
      await capture.pause(100)
    }
  }
}

export async function freeSlot(link: Link, slot: string): Promise<void> {
  await link.query(
    `SELECT pg_catalog.pg_terminate_backend(active_pid)
     FROM pg_catalog.pg_replication_slots WHERE slot_name = $1 AND active_pid IS NOT NULL`,
    [slot],
  )
}

/** Resolves when there is a slot whose gap is closed. */
export async function makeSlot(capture: Capture, link: Link, why: string): Promise<void> {
  const { slot } = capture
  const temporary = `${slot}_${randomBytes(4).toString('hex')}`
  const maker = await openStreaming(capture)
  try {
    capture.say('connecting', 'making a slot, which waits for older transactions to end')
    const sql = `SELECT pg_catalog.pg_create_logical_replication_slot(${literal(temporary)}, 'pgoutput', true)`
    await maker.query(sql, undefined, Infinity).catch((error: unknown) => {
      throw curable(error)
    })
    capture.making = temporary
    await checkRoom(link)
    capture.gap(why)
    capture.owed = undefined
    capture.say('connecting', 'a new slot, and what is affected has still to be invalidated')
    if (!(await capture.taker.done()) || capture.signal.aborted) return
    await link.query('SELECT pg_catalog.pg_copy_logical_replication_slot($1, $2, false)', [
      temporary,
      slot,
    ])
  } finally {
    capture.making = undefined
    await maker.close()
  }
}

/** Before all that is affected goes for nothing: the copy needs a place of its own. */
async function checkRoom(link: Link): Promise<void> {
  const [row] = await link.query(
    `SELECT (count(*) < current_setting('max_replication_slots')::int)::text AS room
     FROM pg_catalog.pg_replication_slots`,
  )
  if (row!['room'] !== 'true') throw noRoom('a new slot needs two free places, for a moment')
}

function noRoom(text: string): BreakwaterError {
  return refused('mode', text, 'ALTER SYSTEM SET max_replication_slots = …, and restart PostgreSQL')
}

/** A connection that may stream, in the words that `pg` parses. */
export async function openStreaming(capture: Capture): Promise<Link> {
  const link = await capture.open(true).catch((error: unknown) => {
    throw curable(error)
  })
  // A walsender knows no parameters, and takes one statement at a time.
  for (const setting of [
    'statement_timeout = 0',
    "datestyle = 'ISO, MDY'",
    "timezone = 'UTC'",
    "intervalstyle = 'postgres'",
    "bytea_output = 'hex'",
    'extra_float_digits = 1',
  ]) {
    await link.query(`SET ${setting}`)
  }
  return link
}

/** What the server refuses and trying again does not cure, with what does. */
function curable(error: unknown): unknown {
  const state = sqlState(error)
  const text = (error as Error).message
  if (state === '42501' || (state === '28000' && /replication/i.test(text))) {
    return refused('connection', `${text}`, 'ALTER ROLE … REPLICATION, for the role that connects')
  }
  if (state === '53400') {
    return refused(
      'mode',
      text,
      'ALTER SYSTEM SET max_replication_slots = …, and restart PostgreSQL',
    )
  }
  return error
}
