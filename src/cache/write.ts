/**
 * Explicit changes: `invalidate`, `expire` (and `set`, in set.ts). Each applies here when it is called
 * (so that nothing begun before survives in this process), then in the store (which fences loads in
 * flight and tells everyone), and here once more when the store has confirmed. One that the store did
 * not take rejects, and waits in the outbox.
 */
import { BreakwaterError } from '../core/errors.ts'
import type { Counters } from '../core/events.ts'
import { keyLabel } from '../core/labels.ts'
import type { Token } from '../ports.ts'
import type { Engine } from './engine.ts'
import { outdate } from './heed.ts'
import { closed } from './load.ts'
import type { Change } from './outbox.ts'
import { settleKeys } from './tag-changes.ts'

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
export async function inStore<T>(
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
