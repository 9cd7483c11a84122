/** One refresh of one key by schedule: looks whether it is done already, else loads it as any flight does. */
import type { Found } from './ahead.ts'
import { mayAsk, type Answer, type Engine, type Flying, type Target } from './engine.ts'
import type { Entry } from './entry.ts'
import { heldIn, isTrusted, lastResort } from './keep.ts'
import { isOvertaken } from './look.ts'
import { giveToPlatform } from './platform.ts'
import { stranded } from './fetch.ts'
import { inBackground } from './refresh.ts'

export type Refreshed =
  /** Nothing had to be loaded. */
  | { readonly type: 'found'; readonly entry: Entry }
  | { readonly type: 'answered'; readonly answer: Answer }
  /** The store could not be asked, and nothing was loaded. */
  | { readonly type: 'stranded' }
  | {
      readonly type: 'failed'
      readonly error: unknown
      /** The loader ran here: nobody else tells of its failure. */
      readonly isOwn: boolean
    }

export interface Scheduled {
  /** Is what is there as good as what would be loaded? */
  isGoodEnough(entry: Entry): boolean
  readonly backoffMs: number
  /** What a request has just found; left out: looked for. */
  readonly found?: Found | undefined
  /** Without the store too, although nobody waits for it. */
  readonly mayGoAlone: boolean
}

/** Never rejects. */
export async function refreshAhead(
  engine: Engine,
  target: Target,
  how: Scheduled,
): Promise<Refreshed> {
  const { backoffMs, mayGoAlone, found } = how
  let known = found === undefined ? await newest(engine, target) : found.known
  if (known !== undefined && how.isGoodEnough(known)) return { type: 'found', entry: known }
  if (known?.uncacheable !== undefined) known = undefined
  const since = found?.since ?? -Infinity
  const work = { target, reason: 'scheduled', known, backoffMs, mayGoAlone, since } as const
  // Whoever loads it already does it for us, too.
  const current = engine.flights.current(target.key)
  const isOlder = current?.startedAt !== undefined && current.startedAt < since
  const flight = current === undefined || isOlder ? begin(engine, work) : current
  try {
    return { type: 'answered', answer: await flight.result }
  } catch (error) {
    if (error === stranded) return { type: 'stranded' }
    return { type: 'failed', error, isOwn: flight.startedAt !== undefined }
  }
}

function begin(engine: Engine, work: Parameters<typeof inBackground>[1]): Flying {
  const { flight, done } = inBackground(engine, work)
  giveToPlatform(engine, done)
  return flight
}

/** What this process holds, or else what the store has. */
export async function newest(engine: Engine, target: Target): Promise<Entry | undefined> {
  const { key, source } = target
  const held = heldIn(engine, source, key)
  const now = engine.clock.now()
  if (held !== undefined && isTrusted(engine, key, held, now)) return held
  if (!mayAsk(engine, source.rules, key)) {
    return engine.store === undefined ? undefined : lastResort(engine, key, held, now)
  }
  const found = await engine.looks.at(engine, source, key, held)
  return found.type === 'entry' && !isOvertaken(engine, found) ? found.entry : undefined
}
