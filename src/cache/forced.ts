/** `refresh`: a load now, whoever is loading already; its lease replaces theirs, and fences them. */
import { mayAsk, type Answer, type Engine, type Flying, type Target } from './engine.ts'
import type { Entry } from './entry.ts'
import { heldIn, isTrusted } from './keep.ts'
import { closed } from './load.ts'
import { isOvertaken } from './look.ts'
import { forbidsLoad, modeOf, notLoaded } from './modes.ts'
import type { ResolvedCall } from './options.ts'
import { settle } from './read.ts'
import { startFlight } from './refresh.ts'
import { bounded, wantedBy } from './wanted.ts'

/** Joins only the flight of another `refresh`, and only while its load has not begun. */
export async function refresh(
  engine: Engine,
  target: Target,
  call: ResolvedCall | undefined,
): Promise<Answer> {
  if (engine.state !== 'open') throw closed(target.key)
  call?.signal?.throwIfAborted()
  const mode = modeOf(engine, target.source)
  if (forbidsLoad(mode, false)) throw notLoaded(target.source, target.key, mode)
  const now = engine.clock.now()
  const wanted = { ...wantedBy(engine, call), since: -Infinity, forced: true }
  const { key, source } = target

  let other = notBegun(engine, target)
  if (other !== undefined) return settle(engine, target, wanted, { flight: other, started: false })
  let known = trusted(engine, target, now)
  if (known === undefined && mayAsk(engine, source.rules, key)) {
    const look = engine.looks.at(engine, source, key, undefined)
    const found = await bounded(engine, key, look, wanted)
    if (found.type === 'entry' && !isOvertaken(engine, found)) known = found.entry
    other = notBegun(engine, target)
    if (other !== undefined)
      return settle(engine, target, wanted, { flight: other, started: false })
  }
  if (known?.uncacheable !== undefined) known = undefined
  const flight = startFlight(engine, {
    target,
    reason: 'forced',
    since: now,
    mode: 'force',
    known,
    seen: known?.stamp,
  })
  engine.forced.set(key, flight)
  const done = (): void => {
    if (engine.forced.get(key) === flight) engine.forced.delete(key)
  }
  flight.result.finally(done).catch(() => {})
  return settle(engine, target, wanted, { flight, started: true })
}

/** The refresh of somebody else that has not begun to load: as good as one of our own. */
function notBegun(engine: Engine, { key, source }: Target): Flying | undefined {
  const flight = engine.forced.get(key)
  if (flight?.work.target.source.isAround !== source.isAround) return undefined
  return flight?.startedAt === undefined && flight?.doomed === false ? flight : undefined
}

function trusted(engine: Engine, target: Target, now: number): Entry | undefined {
  const { key, source } = target
  const entry = heldIn(engine, source, key)
  return entry !== undefined && isTrusted(engine, key, entry, now) ? entry : undefined
}
