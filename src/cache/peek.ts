/** A look without a load, and without consequences: nothing is refreshed. */
import type { Peek } from '../api.ts'
import { mayAsk, type Engine, type Source } from './engine.ts'
import { instants, isAlive, type Entry } from './entry.ts'
import { heldIn, isStillHeld, isTrusted, lastResort } from './keep.ts'
import { closed } from './load.ts'
import { given } from './values.ts'

export async function peek(engine: Engine, source: Source, key: string): Promise<Peek<unknown>> {
  if (engine.state !== 'open') throw closed(key)
  const { rules } = source
  const held = heldIn(engine, source, key)
  const now = engine.clock.now()
  const known = held !== undefined && isTrusted(engine, key, held, now) ? held : undefined
  // One that is not fresh may have been replaced in the store: nobody is told of that.
  if (known !== undefined && now < known.freshUntil) return seen(engine, source, known)
  if (!mayAsk(engine, rules, key)) {
    const usable =
      known ?? (engine.store === undefined ? undefined : lastResort(engine, key, held, now))
    return seen(engine, source, usable)
  }
  const found = await engine.looks.at(engine, source, key, held)
  if (found.type === 'entry') return seen(engine, source, found.entry)
  if (found.type === 'none') return seen(engine, source, undefined)
  const still = isStillHeld(engine, source, key, held) ? held : undefined
  return seen(engine, source, lastResort(engine, key, still, engine.clock.now()))
}

function seen(engine: Engine, source: Source, entry: Entry | undefined): Peek<unknown> {
  const now = engine.clock.now()
  if (entry === undefined || entry.uncacheable !== undefined || !isAlive(entry, now)) {
    return { state: 'missing' }
  }
  const state = now < entry.freshUntil ? 'fresh' : 'stale'
  return { state, value: given(entry, source.rules), ...instants(entry), meta: entry.meta }
}
