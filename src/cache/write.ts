/**
 * Explicit changes: `invalidate`, `expire`, `set`. Each applies here when it is called (so that
 * nothing begun before survives in this process), then in the store (which fences loads in flight
 * and tells everyone), and here once more when the store has confirmed. One that the store did not
 * take rejects, and waits in the outbox.
 */
import { after } from '../core/after.ts'
import type { Body } from '../core/frame.ts'
import { BreakwaterError } from '../core/errors.ts'
import { jittered, lifetime, noWindows } from '../core/lifetime.ts'
import type { Counters } from '../core/events.ts'
import { keyLabel, type Label } from '../core/labels.ts'
import type { Head } from '../core/head.ts'
import type { Token } from '../ports.ts'
import { stowed, unstow } from './apart.ts'
import { usesMemory, usesStore, type Engine, type Source } from './engine.ts'
import { storeHead } from './entry.ts'
import { callbackFailed } from './failure.ts'
import { outdate } from './heed.ts'
import { misfitOf } from './inspect.ts'
import { keep, newEntry } from './keep.ts'
import { closed } from './load.ts'
import { packed } from './pack.ts'
import type { Change } from './outbox.ts'
import { currentTags, settleKeys } from './tag-changes.ts'
import { tagsOf } from './tags-of.ts'
import { copied, encoded, frameOf, isManyBytes } from './values.ts'
import { keptPayload, roomFor, type Copied } from './values.ts'
import type { PendingWrite } from './writes.ts'

export interface ChangeHow {
  readonly what: Change
  /** How long the source may still give what is of before. */
  readonly settleMs?: number
}

export async function change(
  engine: Engine,
  keys: readonly string[],
  { what, settleMs = 0 }: ChangeHow,
  counters: Counters,
): Promise<void> {
  if (engine.state !== 'open') throw closed(keys[0] ?? '')
  if (keys.length === 0) return
  const how = what === 'invalidate' ? 'gone' : 'expired'
  const id = engine.newToken()
  counters.invalidated += keys.length
  for (const key of keys) {
    outdate(engine, key, how)
    engine.writes.outdate(key, id, 'change')
  }
  if (engine.store !== undefined) {
    try {
      await everywhere(engine, keys, { what, settleMs }, id)
    } finally {
      for (const key of keys) outdate(engine, key, how)
    }
  } else if (settleMs > 0) await settleKeys(engine, keys.map(keyLabel), settleMs)
  engine.listeners.tell('invalidated', () => ({ keys: [...keys] }))
}

/** What one server does not take waits, and the others have taken the rest. */
async function everywhere(
  engine: Engine,
  keys: readonly string[],
  { what, settleMs = 0 }: ChangeHow,
  id: Token,
): Promise<void> {
  // Whoever hears of the change has heard before that it settles.
  const settled = settleMs > 0 ? settleKeys(engine, keys.map(keyLabel), settleMs) : undefined
  if (settled !== undefined) await settled.catch(() => {})
  const store = engine.store!
  const parts = store
    .parts(keys, (key) => key)
    .map((part) =>
      inStore(engine, part, what, async () => {
        await store.call(what, part[0], (session) => session[what](part, id))
        await settled
        engine.echoes.expect(id, part.length)
      }),
    )
  const failed = (await Promise.allSettled(parts)).find(({ status }) => status === 'rejected')
  if (failed !== undefined) throw (failed as PromiseRejectedResult).reason
}

/** What the store did not take waits in the outbox, as `what`. */
async function inStore<T>(
  engine: Engine,
  keys: readonly string[],
  what: Change,
  run: () => Promise<T>,
): Promise<T> {
  try {
    const result = await run()
    engine.outbox.taken(keys, what)
    return result
  } catch (error) {
    engine.outbox.missed(keys, what)
    const { message, cause } = error as Error
    const key = keys.length === 1 ? keys[0] : undefined
    throw new BreakwaterError('STORE_UNAVAILABLE', message, { key, cause })
  }
}

export async function set(
  engine: Engine,
  source: Source,
  at: { readonly key: string; readonly arg: unknown },
  value: unknown,
): Promise<void> {
  const { key, arg } = at
  if (engine.state !== 'open') throw closed(key)
  const { rules, name } = source
  const toStore = usesStore(engine, rules)
  const unstorable = (path: string): never => {
    source.counters.unstorable++
    engine.listeners.tell('unstorable', () => ({ name, key, path }))
    throw new BreakwaterError('UNSTORABLE', `${key} cannot be stored: ${path}`, { key })
  }
  const owner = { name, key, rules }
  // Many bytes can be stored whatever they are: encoded when there is room for them, see below.
  const room = isManyBytes(value, rules) ? roomFor(engine, value, owner) : undefined
  let made = room === undefined ? encoded(engine, value, owner, toStore) : undefined
  if (made?.type === 'unstorable') return unstorable(made.path)
  const invalidated = (): Promise<void> =>
    change(engine, [key], { what: 'invalidate' }, source.counters)
  let negative: boolean
  let tags: readonly Label[]
  let callback = 'isNegative'
  try {
    negative = rules.isNegative(value)
    callback = 'tags'
    tags = tagsOf(rules.tags, value, arg)
  } catch (error) {
    // Not stored, since it is not known as what; and nothing older may stand in its place.
    callbackFailed(engine, { name, key }, callback, error)
    return invalidated()
  }
  // Of a big value, and where a schema takes its time, it comes later: the change holds from the call on.
  const checked = (payload: Uint8Array | undefined): Copied | Promise<Copied> =>
    after(copied(engine, value, payload, owner), (copy) => {
      if (copy.type === 'unstorable' || negative) return copy
      return after(misfitOf(engine, owner, copy.value, rules.loadTimeoutMs), (found): Copied => {
        return found === undefined ? copy : { type: 'unstorable', path: found.path }
      })
    })
  const copying = made && checked(made.payload)
  if (copying !== undefined && !(copying instanceof Promise) && copying.type === 'unstorable') {
    return unstorable(copying.path)
  }
  const ttlMs = negative ? rules.negativeTtlMs : rules.ttlMs
  if (ttlMs === 0) return invalidated()

  const stamp = engine.newToken()
  const now = engine.clock.now()
  const jitteredMs = jittered(ttlMs, rules.jitter, engine.clock.random())
  const life = lifetime(now, jitteredMs, negative ? noWindows : rules)
  const head: Head = {
    stamp,
    startedAt: now,
    storedAt: now,
    freshUntil: life.freshUntil,
    staleWhileRevalidateMs: life.staleWhileRevalidateMs,
    staleIfErrorMs: life.staleIfErrorMs,
    deltaMs: 0,
    asOf: 0,
    negative,
    uncacheable: undefined,
    tags,
    meta: undefined,
  }
  source.counters.invalidated++
  outdate(engine, key, 'gone')
  engine.writes.outdate(key, stamp, 'write')
  const write = engine.writes.begin(key, stamp)
  const { trust } = engine.hearing
  const { tick, highest: knownThen } = engine.tags
  let copy: Copied | undefined
  const keepIt = (provisional: boolean): void => {
    if (write.outdated || !usesMemory(engine, rules)) return
    if (copy?.type !== 'copied' || made?.type !== 'storable') return
    const entry = newEntry(engine, rules, {
      head,
      value: copy.value,
      meta: undefined,
      payload: keptPayload(value, made.payload, rules),
      codec: rules.codec,
      size: made.size,
      now,
      trust,
      tick,
    })
    if (provisional) entry.makeProvisional(engine.hearing.outage, now + engine.outageTtlMs)
    keep(engine, key, entry)
  }
  try {
    if (made === undefined) {
      await room
      made = encoded(engine, value, owner, toStore)
      if (made.type === 'unstorable') return unstorable(made.path)
    }
    const { payload } = made
    const late = copying ?? checked(payload)
    copy = late instanceof Promise ? await late : late
    if (copy.type === 'unstorable') return unstorable(copy.path)
    const current = toStore ? currentTags(engine) : undefined
    if (current !== undefined) await current.catch(() => {})
    const packing = toStore ? packed(engine, rules, key, payload!) : undefined
    const packedBody = packing instanceof Promise ? await packing : packing
    // Undone while it waited: what did so may have reached the store already, and must stand.
    if (toStore && !write.undone) {
      // What changed after the call holds for this value, although it is known by now.
      const asOf =
        current === undefined
          ? knownThen
          : engine.tags.asOf(knownThen, now + engine.hearing.offsetMs)
      // In the store's time, which is known when the store can be written to.
      await inStore(engine, [key], 'invalidate', async () => {
        const stowing = stowed(engine, key, packedBody!, life.lifeMs)
        const body = stowing instanceof Promise ? await stowing : stowing
        const turn = engine.writes.turn(key, write)
        if (turn !== undefined) await turn
        if (write.undone) {
          unstow(engine, key, body)
          return removed(engine, key, stamp)
        }
        const frame = (): Uint8Array =>
          frameOf(storeHead({ ...head, asOf }, engine.hearing.offsetMs), body)
        await written(engine, key, { frame, body, lifeMs: life.lifeMs, write })
      })
      engine.echoes.expect(stamp, 1)
      outdate(engine, key, 'gone')
    } else if (engine.store !== undefined) {
      // Undone, or not for the shared tier; others may hold an older value in memory.
      await inStore(engine, [key], 'invalidate', () => removed(engine, key, stamp))
      engine.echoes.expect(stamp, 1)
    }
    keepIt(false)
  } catch (error) {
    outdate(engine, key, 'gone')
    keepIt(true)
    throw error
  } finally {
    engine.writes.end(key, write)
  }
  engine.listeners.tell('invalidated', () => ({ keys: [key] }))
}

async function written(
  engine: Engine,
  key: string,
  what: {
    readonly frame: () => Uint8Array
    readonly body: Body
    readonly lifeMs: number
    readonly write: PendingWrite
  },
): Promise<void> {
  const { clock, hearing, storeTimeoutMs } = engine
  const { lifeMs, write } = what
  const { id: stamp } = write
  const answer = engine.store!.call('write', key, (session) => {
    const notAfter = Math.ceil(clock.now() + hearing.offsetMs + storeTimeoutMs)
    return session.write({ key, frame: what.frame(), lifeMs, stamp, notAfter })
  })
  engine.writes.sent(write)
  const result = await answer
  if (result !== 'ok') unstow(engine, key, what.body)
  if (result === 'late') {
    const text = `${key}: the write reached the store too late`
    throw new BreakwaterError('STORE_UNAVAILABLE', text, { key })
  }
  // A newer version's frame stands there, and holds what has just been replaced. Or what has undone
  // it came first: a script that the server does not know yet is sent twice.
  if (result === 'kept' || write.undone) await removed(engine, key, stamp)
}

function removed(engine: Engine, key: string, id: Token): Promise<void> {
  return engine.store!.call('invalidate', key, (session) => session.invalidate([key], id))
}
