/**
 * A frame that a contender for the lease has got, with the store's answer or by a push: held against
 * what is known of its tags, and against what its flight is for.
 */
import { decide } from '../core/decide.ts'
import type { Label } from '../core/labels.ts'
import type { Token } from '../ports.ts'
import type { Answer, Engine, Flying, Work } from './engine.ts'
import { Entry } from './entry.ts'
import { lookUpTags } from './tag-changes.ts'
import { takeIn } from './take-in.ts'
import { isOutOfReach, unpack, type Unpacked, type Unread } from './unpack.ts'

export interface Got {
  readonly unpacked: Unpacked | Unread | Promise<Unpacked | Unread>
  readonly trust: number
  readonly waitedAt: number | undefined
  /** Who was waited for. */
  readonly holder?: Token | undefined
}

export function unpackFor(engine: Engine, work: Work, frame: Uint8Array): Got['unpacked'] {
  const { target, known } = work
  return unpack(engine, target.source, { key: target.key, bytes: frame, known })
}

/** After what is not known of its tags has been asked for; where that cannot be had, it is not used. */
export async function acceptChecked(
  engine: Engine,
  work: Work,
  flight: Flying,
  got: Got & { readonly lookUp: readonly Label[]; readonly current?: Promise<void> | undefined },
): Promise<Answer | undefined> {
  const { lookUp, current } = got
  try {
    await current
    if (lookUp.length > 0) await lookUpTags(engine, lookUp)
    const unpacked = await got.unpacked
    const answer = accept(engine, work, flight, { ...got, unpacked })
    if (answer === undefined || !('lookUp' in answer)) return answer
    if (lookUp.length === 0)
      return await acceptChecked(engine, work, flight, { ...got, unpacked, ...answer })
  } catch {
    // Not known: loaded anew.
  }
  work.known = undefined
  work.seen = 'unreadable'
  return undefined
}

/** A frame that came with the answer or with a push: served, or the reason to ask once more. */
export function accept(
  engine: Engine,
  work: Work,
  flight: Flying,
  got: Got & { readonly unpacked: Unpacked | Unread },
): Answer | undefined | { readonly lookUp: readonly Label[] } {
  const { target, since } = work
  const { key, source } = target
  const { outdated } = flight
  const { unpacked, trust } = got
  if (unpacked.type === 'unread' && isOutOfReach(engine, key, unpacked)) return undefined
  const entry = takeIn(engine, source, unpacked, { key, known: work.known, trust, outdated })
  if (!(entry instanceof Entry)) {
    if (entry.why === 'unknown') return { lookUp: entry.labels }
    work.known = undefined
    work.seen = entry.why === 'gone' ? entry.stamp : 'unreadable'
    return undefined
  }
  // Overtaken by a change: given to those who had joined, and to nothing and nobody else.
  work.known = outdated ? undefined : entry
  work.seen = entry.stamp
  if (entry.uncacheable !== undefined) return undefined
  if (entry.startedAt < since) return undefined
  const now = engine.clock.now()
  switch (decide(entry, now, source.rules)) {
    case 'load':
      return undefined
    case 'stale':
      if (flight.purpose === 'background') return undefined
      return {
        entry,
        outcome: 'stale',
        tier: 'store',
        private: false,
        cause: 'revalidate',
        refreshable: outdated ? undefined : engine.changes,
      }
    case 'early':
    case 'serve':
      break
  }
  if (got.waitedAt === undefined) return { entry, outcome: 'hit', tier: 'store', private: false }
  tellWaited(engine, work, flight, got)
  return { entry, outcome: 'waited', tier: 'store', private: false }
}

/** A wait for another process is over, whatever came of it. One that no call had part in is no news. */
export function tellWaited(
  engine: Engine,
  { target }: Work,
  flight: Flying,
  { waitedAt, holder = '' }: Pick<Got, 'waitedAt' | 'holder'>,
): void {
  if (waitedAt === undefined || flight.callers === 0) return
  const { key, source } = target
  const ms = engine.clock.now() - waitedAt
  engine.listeners.tell('waited', () => ({ name: source.name, key, ms, holder }))
}
