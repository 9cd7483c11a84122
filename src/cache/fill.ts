/**
 * A loaded value is published under its lease, and only then kept in memory. The fence is the store's:
 * a publish counts only while the lease is still ours. What was fenced is kept nowhere; what could not
 * be published because the store is gone is kept for a short while.
 */
import { after } from '../core/after.ts'
import { plainBody, type Body } from '../core/frame.ts'
import { apartLength, stowed, unstow } from './apart.ts'
import { outageTtlOf, usesMemory, type Engine, type Flying, type Work } from './engine.ts'
import { storeHead } from './entry.ts'
import type { FillHow, Filling } from './filling.ts'
import { keep } from './keep.ts'
import type { Lease } from './lease.ts'
import { packed } from './pack.ts'
import { frameOf, given, headOf } from './values.ts'

/** Publishes, then keeps. Never rejects: its callers have been answered already. */
export async function fill(
  engine: Engine,
  work: Work,
  flight: Flying,
  made: Filling,
  how: FillHow,
): Promise<void> {
  const { target } = work
  const { key, source } = target
  const { rules, counters } = source
  const entry = made.mark ?? made.entry
  const keepIt = (): void => {
    if (flight.outdated || made.outdated || !usesMemory(engine, rules)) return
    if (made.mark !== undefined && made.lifeMs === 0) return
    keep(engine, key, entry)
  }
  if (how.lease === undefined) {
    // Waited too long, or the key is uncacheable: somebody else may know better.
    if (how.unleased === 'local' || how.unleased === 'store' || how.unleased === 'nolease') keepIt()
    return
  }
  if (made.outdated) {
    how.lease.stop()
    counters.fenced++
    engine.listeners.tell('fenced', () => ({ name: source.name, key }))
    return how.lease.release('late')
  }
  if (made.mark !== undefined && made.lifeMs === 0) {
    how.lease.stop()
    return how.lease.release(made.private ? 'private' : 'unstorable')
  }
  let isReady = false
  try {
    // The lease is renewed until all is ready to be sent, which takes a while for much.
    const sending = sendable(engine, work, made)
    const body = sending instanceof Promise ? await sending : sending
    how.lease.stop()
    isReady = true
    switch (await publish(engine, work, { made, body }, how.lease)) {
      case 'ok':
      case 'kept':
        counters.published++
        keepIt()
        return
      case 'fenced':
        counters.fenced++
        engine.listeners.tell('fenced', () => ({ name: source.name, key }))
        return
    }
  } catch {
    // Its body could not be put: nobody shall wait for the lease to end.
    if (isReady) how.lease.stop()
    else void how.lease.release('unstorable')
    // Not known to be stored, and perhaps the store is gone.
    entry.makeProvisional(how.outage, entry.storedAt + outageTtlOf(engine, rules))
    keepIt()
  }
}

/** The body of what is to be published; `undefined`: only a head, before a body that is there. */
function sendable(
  engine: Engine,
  { target }: Work,
  made: Filling,
): Body | undefined | Promise<Body> {
  const { rules } = target.source
  if (made.renews !== undefined) return undefined
  if (made.mark !== undefined) return plainBody(rules.codec.id, made.payload)
  const { key } = target
  return after(packed(engine, rules, key, made.payload), (body) => stowed(engine, key, body))
}

async function publish(
  engine: Engine,
  work: Work,
  what: { readonly made: Filling; readonly body: Body | undefined },
  lease: Lease,
): Promise<'ok' | 'kept' | 'fenced'> {
  const { made } = what
  let { body } = what
  const { key, source } = work.target
  const { rules } = source
  const { token } = lease
  const head = storeHead(made.head, engine.hearing.offsetMs)
  const lifeMs = Math.ceil(made.lifeMs)
  if (made.renews !== undefined) {
    const renewal = { key, token, seen: made.renews, head: headOf(head), lifeMs }
    const renewed = await engine.store!.call('touch', key, (session) => session.touch(renewal))
    if (renewed !== 'gone') return renewed
    // By this call's codec: the value may have been loaded by a call with another.
    const payload = rules.codec.encode(given(made.entry, rules))
    body = await stowed(engine, key, await packed(engine, rules, key, payload))
  }
  const frame = frameOf(head, body!)
  const published = await engine.store!.call('publish', key, (session) =>
    session.publish({ key, token, frame, lifeMs }),
  )
  if (published === 'ok') source.counters.bytesWritten += frame.length + apartLength(body!)
  else unstow(engine, key, body)
  return published
}
