/**
 * `set`: a value put in by hand. It fences loads in flight as `invalidate` does, from the call on,
 * although a big value, or a schema that takes its time, has it written later.
 */
import { BreakwaterError } from '../core/errors.ts'
import type { Body } from '../core/frame.ts'
import type { Head } from '../core/head.ts'
import type { Label } from '../core/labels.ts'
import { jittered, lifetime, noWindows } from '../core/lifetime.ts'
import type { Token } from '../ports.ts'
import { apartLength, stowed, unstow } from './apart.ts'
import { usesMemory, usesStore, type Engine, type Source } from './engine.ts'
import { storeHead } from './entry.ts'
import { callbackFailed } from './failure.ts'
import { outdate } from './heed.ts'
import { prepared, type Ready } from './inspect.ts'
import { keep, newEntry } from './keep.ts'
import { closed } from './load.ts'
import { packed } from './pack.ts'
import { currentTags } from './tag-changes.ts'
import { tagsOf } from './tags-of.ts'
import { encoded, frameOf, isManyBytes, keptPayload, roomFor } from './values.ts'
import { change, inStore } from './write.ts'
import type { PendingWrite } from './writes.ts'

export async function set(
  engine: Engine,
  source: Source,
  at: { readonly key: string; readonly arg: unknown },
  value: unknown,
): Promise<void> {
  const { key } = at
  if (engine.state !== 'open') throw closed(key)
  const { rules, name } = source
  const owner = { name, key, rules }
  const toStore = usesStore(engine, rules)
  // Many bytes can be stored whatever they are: encoded when there is room for them.
  const room = isManyBytes(value, rules) ? roomFor(engine, value, owner) : undefined
  const made = room === undefined ? encoded(engine, value, owner, toStore) : undefined
  if (made?.type === 'unstorable') throw unstorable(engine, source, key, made.path)
  const meant = meaningOf(engine, source, at, value)
  const ttlMs = meant?.negative === true ? rules.negativeTtlMs : rules.ttlMs
  // Not known as what, or not to be kept: but nothing older may stand in its place.
  if (meant === undefined) return change(engine, [key], { what: 'invalidate' }, source.counters)
  const { negative } = meant
  const now = engine.clock.now()
  const of = { value, negative, until: now + rules.loadTimeoutMs }
  const early = made && prepared(engine, owner, { ...of, made })
  if (early !== undefined && !(early instanceof Promise) && early.type === 'unstorable') {
    throw unstorable(engine, source, key, early.path)
  }
  if (ttlMs === 0) return change(engine, [key], { what: 'invalidate' }, source.counters)

  const stamp = engine.newToken()
  const jitteredMs = jittered(ttlMs, rules.jitter, engine.clock.random())
  const life = lifetime(now, jitteredMs, negative ? noWindows : rules)
  const head = newHead({ stamp, now, life, ...meant })
  source.counters.invalidated++
  outdate(engine, key, 'gone')
  engine.writes.outdate(key, stamp, 'write')
  const write = engine.writes.begin(key, stamp)
  const { trust } = engine.hearing
  const { tick, highest: knownThen } = engine.tags
  let done: Ready | undefined
  const keepIt = (provisional: boolean): void => {
    if (done === undefined || write.outdated || !usesMemory(engine, rules)) return
    const { payload, size } = done
    const entry = newEntry(engine, rules, {
      head,
      value: done.value,
      meta: undefined,
      payload: keptPayload(value, payload, rules),
      codec: rules.codec,
      size,
      now,
      trust,
      tick,
    })
    if (provisional) entry.makeProvisional(engine.hearing.outage, now + engine.outageTtlMs)
    keep(engine, key, entry)
  }
  try {
    if (room !== undefined) await room
    const late =
      early ?? prepared(engine, owner, { ...of, made: encoded(engine, value, owner, toStore) })
    const ready = late instanceof Promise ? await late : late
    if (ready.type === 'unstorable') throw unstorable(engine, source, key, ready.path)
    done = ready
    const current = toStore ? currentTags(engine) : undefined
    if (current !== undefined) await current.catch(() => {})
    const packing = toStore ? packed(engine, rules, key, ready.payload!) : undefined
    const body = packing instanceof Promise ? await packing : packing
    // Undone while it waited: what did so may have reached the store already, and must stand.
    if (body !== undefined && !write.undone) {
      // What changed after the call holds for this value, although it is known by now.
      const asOf =
        current === undefined
          ? knownThen
          : engine.tags.asOf(knownThen, now + engine.hearing.offsetMs)
      const frame = { head: { ...head, asOf }, body, lifeMs: life.lifeMs }
      await inStore(engine, [key], 'invalidate', () => sent(engine, source, key, { frame, write }))
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

function unstorable(engine: Engine, source: Source, key: string, path: string): BreakwaterError {
  const { name, counters } = source
  counters.unstorable++
  engine.listeners.tell('unstorable', () => ({ name, key, path }))
  return new BreakwaterError('UNSTORABLE', `${key} cannot be stored: ${path}`, { key })
}

interface Meaning {
  readonly negative: boolean
  readonly tags: readonly Label[]
}

/** `undefined`: a callback of the user's threw. */
function meaningOf(
  engine: Engine,
  { name, rules }: Source,
  { key, arg }: { readonly key: string; readonly arg: unknown },
  value: unknown,
): Meaning | undefined {
  let callback = 'isNegative'
  try {
    const negative = rules.isNegative(value)
    callback = 'tags'
    return { negative, tags: tagsOf(rules.tags, value, arg) }
  } catch (error) {
    callbackFailed(engine, { name, key }, callback, error)
    return undefined
  }
}

function newHead(
  of: Meaning & {
    readonly stamp: Token
    readonly now: number
    readonly life: ReturnType<typeof lifetime>
  },
): Head {
  const { stamp, now, life, negative, tags } = of
  return {
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
}

/** In its turn, with its body first where that lies apart. */
async function sent(
  engine: Engine,
  { counters }: Source,
  key: string,
  what: {
    readonly frame: { readonly head: Head; readonly body: Body; readonly lifeMs: number }
    readonly write: PendingWrite
  },
): Promise<void> {
  const { frame, write } = what
  const { clock, hearing, storeTimeoutMs } = engine
  const { head, lifeMs } = frame
  const { id: stamp } = write
  const stowing = stowed(engine, key, frame.body)
  const body = stowing instanceof Promise ? await stowing : stowing
  const turn = engine.writes.turn(key, write)
  if (turn !== undefined) await turn
  if (write.undone) {
    unstow(engine, key, body)
    return removed(engine, key, stamp)
  }
  const answer = engine.store!.call('write', key, (session) => {
    // In the store's time, which is known when the store can be written to.
    const { offsetMs } = hearing
    const notAfter = Math.ceil(clock.now() + offsetMs + storeTimeoutMs)
    const bytes = frameOf(storeHead(head, offsetMs), body)
    counters.bytesWritten += bytes.length + apartLength(body)
    return session.write({ key, frame: bytes, lifeMs, stamp, notAfter })
  })
  engine.writes.sent(write)
  const result = await answer
  if (result !== 'ok') unstow(engine, key, body)
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
