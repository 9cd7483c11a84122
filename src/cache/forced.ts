/** `refresh`: a load now, whoever is loading already; its lease replaces theirs, and fences them. */
import type { Flight } from '../flight/flight.ts'
import {
  usesMemory,
  usesStore,
  type Answer,
  type Engine,
  type Target,
  type Work,
} from './engine.ts'
import type { Entry } from './entry.ts'
import { isTrusted } from './keep.ts'
import { closed } from './load.ts'
import type { ResolvedCall } from './options.ts'
import { settle } from './read.ts'
import { startFlight } from './refresh.ts'
import { bounded, wantedBy } from './wanted.ts'

/** Loads now: joins only a forced flight whose load has not begun. */
export async function refresh(
  engine: Engine,
  target: Target,
  call: ResolvedCall | undefined,
): Promise<Answer> {
  if (engine.closed) throw closed(target.key)
  call?.signal?.throwIfAborted()
  const now = engine.clock.now()
  const wanted = { ...wantedBy(call, now), since: -Infinity }
  const { key, source } = target
  const join = (flight: Flight<Answer>, started: boolean): Promise<Answer> =>
    settle(engine, target, wanted, { flight, started, strict: true })

  let other = notBegun(engine, key)
  if (other !== undefined) return join(other, false)
  let known = trusted(engine, target, now)
  if (known === undefined && usesStore(engine, source.rules)) {
    const found = await bounded(engine, engine.looks.at(engine, source, key, undefined), wanted)
    if (found.type === 'entry' && !found.outdated) known = found.entry
    other = notBegun(engine, key)
    if (other !== undefined) return join(other, false)
  }
  if (known?.uncacheable !== undefined) known = undefined
  const seen = known?.stamp
  const work: Work = { target, reason: 'forced', since: -Infinity, mode: 'force', known, seen }
  const own = startFlight(engine, work)
  engine.forced.set(key, own)
  const done = (): void => {
    if (engine.forced.get(key) === own) engine.forced.delete(key)
  }
  own.result.finally(done).catch(() => {})
  return join(own, true)
}

/** The refresh of somebody else that has not begun to load: as good as one of our own. */
function notBegun(engine: Engine, key: string): Flight<Answer> | undefined {
  const flight = engine.forced.get(key)
  return flight?.startedAt === undefined && flight?.doomed === false ? flight : undefined
}

function trusted(engine: Engine, target: Target, now: number): Entry | undefined {
  if (!usesMemory(engine, target.source.rules)) return undefined
  const entry = engine.memory!.get(target.key)
  return entry !== undefined && isTrusted(engine, entry, now) ? entry : undefined
}
