/**
 * One attempt at capture by logical replication: a connection that leads and watches, and one that
 * streams. A transaction is confirmed after the store has taken what it means, so that a crash at any
 * point brings it again.
 */
import { BreakwaterError } from '../core/errors.ts'
import { whileAlive } from './alive.ts'
import type { Capture } from './capture.ts'
import { lead } from './leadership.ts'
import type { Link } from './link.ts'
import { objectName } from './names.ts'
import { planPublication } from './plan.ts'
import { dropSlot, freeSlot, makeSlot, openStreaming, readSlot, type Slot } from './slot.ts'
import { Stream } from './stream.ts'
import { Transactions } from './transactions.ts'

export async function replicationSession(capture: Capture, why: string): Promise<void> {
  const { rules, slot } = capture
  const watch = await capture.open()
  let streaming: Streaming | undefined
  try {
    capture.meet(await planPublication(watch, rules.name, rules.tables))
    if ((await readSlot(watch, slot)) !== undefined) capture.payGap()
    await lead(capture, watch, async () => watchSlot(capture, watch))
    if (capture.signal.aborted) return
    const beat = async (): Promise<void> => {
      const now = await watchSlot(capture, watch)
      if (streaming === undefined) return
      const { stream, link, transactions } = streaming
      // A stream whose other end is gone waits for ever.
      if (now === undefined || now.isLost) throw new Error('the slot is gone')
      if (now.activePid !== link.pid) throw new Error('the slot is not ours any more')
      stream.tell('answer')
      transactions.plan = await planPublication(watch, rules.name, rules.tables)
      capture.meet(transactions.plan)
      if (capture.types.isOutdated) await capture.types.load(watch)
    }
    const work = async (): Promise<void> => {
      let there = await readSlot(watch, slot)
      let gone = why
      if (there?.isLost === true) {
        await dropSlot(capture, watch, slot)
        there = undefined
        gone = 'the server had thrown away the log of its slot'
      }
      if (there === undefined) {
        await makeSlot(capture, watch, gone)
        there = await readSlot(watch, slot)
      }
      if (there === undefined || capture.signal.aborted) return
      streaming = await startStream(capture, watch, there)
      capture.say('live')
      const ended = await streaming.link.ended
      throw ended
    }
    await whileAlive(capture, [watch], { work, beat })
  } catch (error) {
    // Our own end first: the slot is free then, and nobody is left to be told of it.
    await streaming?.link.close()
    if (error instanceof Overgrown) {
      await dropSlot(capture, watch, slot)
      capture.tellLag('dropped')
    } else if (isRefusal(error) && streaming !== undefined) {
      // Changes have gone by that this slot will not bring, and who leads next may see nothing of it.
      await dropSlot(capture, watch, slot).catch(() => {})
    }
    throw error
  } finally {
    await streaming?.link.close()
    await watch.close()
  }
}

/** The slot holds more of the log than it may. */
class Overgrown extends Error {}

function isRefusal(error: unknown): boolean {
  return error instanceof BreakwaterError && error.code === 'INVALID_OPTION'
}

interface Streaming {
  readonly link: Link
  readonly stream: Stream
  readonly transactions: Transactions
}

async function startStream(capture: Capture, watch: Link, there: Slot): Promise<Streaming> {
  const { rules, engine, taker, slot } = capture
  const link = await openStreaming(capture)
  try {
    await meetServer(capture, link)
    const plan = await planPublication(watch, rules.name, rules.tables)
    capture.meet(plan)
    await capture.types.load(watch)
    capture.payGap()
    const transactions = new Transactions(capture, plan, (end) => stream.confirm(end))
    const stream: Stream = new Stream({
      link,
      slot,
      publication: objectName(rules.name),
      confirmed: there.confirmed,
      onMessage: (message) => transactions.take(message),
      isIdle: () => taker.isIdle,
      now: () => engine.clock.now(),
    })
    // We lead: whoever streams from it still is of a session that has ended.
    if (there.activePid !== undefined) await freeAndWait(capture, watch)
    await stream.start()
    return { link, stream, transactions }
  } catch (error) {
    link.fail(error as Error)
    throw error
  }
}

async function freeAndWait(capture: Capture, watch: Link): Promise<void> {
  const { slot } = capture
  for (let attempt = 0; attempt < 50 && !capture.signal.aborted; attempt++) {
    const now = await readSlot(watch, slot)
    if (now?.activePid === undefined) return
    await freeSlot(watch, slot)
    await capture.pause(100)
  }
}

/** After a failover the log may have gone on from an earlier point: what was confirmed may be undone. */
async function meetServer(capture: Capture, link: Link): Promise<void> {
  const [row] = await link.query('IDENTIFY_SYSTEM')
  const server = `${String(row!['systemid'])} ${String(row!['timeline'])}`
  if (capture.server !== undefined && capture.server !== server) capture.owed ??= 'another server'
  capture.server = server
}

/** The log that the slot holds, and its bound: a cache must not fill the database's disk. */
async function watchSlot(capture: Capture, watch: Link): Promise<Slot | undefined> {
  const now = await readSlot(watch, capture.making ?? capture.slot)
  if (now === undefined) return undefined
  capture.lag(now.heldBytes)
  if (now.heldBytes <= capture.rules.dropBytes) return now
  throw new Overgrown(`the slot held ${now.heldBytes} bytes of log, and was dropped`)
}
