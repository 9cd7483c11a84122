/** What is known of an entry as an answer, where it may be one as it stands. */
import { decide } from '../core/decide.ts'
import type { StaleCause } from '../core/events.ts'
import type { Answer, Engine, Target } from './engine.ts'
import type { Entry } from './entry.ts'
import { startRefresh } from './refresh.ts'
import type { Wanted } from './wanted.ts'

/** The entry as an answer, with a refresh begun where one is due; `undefined`: not servable as it is. */
export function serve(
  engine: Engine,
  target: Target,
  entry: Entry,
  how: {
    readonly now: number
    readonly wanted: Wanted
    readonly tier: 'memory' | 'store'
    /** Overtaken by a change: for those who had asked, and nothing begins with it. */
    readonly asItIs?: boolean
    /** Why it is that a stale one is served; default `revalidate`. */
    readonly cause?: StaleCause
  },
): Answer | undefined {
  if (entry.uncacheable !== undefined || entry.startedAt < how.wanted.since) return undefined
  const decision = decide(entry, how.now, target.source.rules)
  switch (decision) {
    case 'serve':
      return { entry, outcome: 'hit', tier: how.tier, private: false }
    case 'early':
    case 'stale': {
      if (how.asItIs !== true) startRefresh(engine, target, entry, decision, how.wanted.seat)
      const { tier, cause = 'revalidate' } = how
      if (decision === 'early') return { entry, outcome: 'hit', tier, private: false }
      return { entry, outcome: 'stale', tier, private: false, cause }
    }
    case 'load':
      return undefined
  }
}
