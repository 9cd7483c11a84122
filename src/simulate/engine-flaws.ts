/** An engine that lacks one of its rules: a method of one of its parts is replaced. */
import { Deadlines } from '../cache/deadlines.ts'
import { Echoes } from '../cache/heed.ts'
import { Hearing } from '../cache/hearing.ts'
import { Lane } from '../cache/lane.ts'
import { Looks } from '../cache/look.ts'
import { Outbox } from '../cache/outbox.ts'
import { Tags } from '../cache/tags.ts'
import { Writes } from '../cache/writes.ts'
import { Cooldowns } from '../flight/cooldowns.ts'
import { Flight, type JoinOptions } from '../flight/flight.ts'
import { Flights } from '../flight/flights.ts'
import { Limiter, noPlace } from '../flight/limiter.ts'
import type { Flaw } from './flaws.ts'

/** With this method in place of the part's own, until it is undone. */
function replaced<P extends object, N extends keyof P & string>(
  part: { readonly prototype: P },
  name: N,
  by: (own: P[N]) => P[N],
): Flaw {
  const { prototype } = part
  return {
    engine() {
      const own = prototype[name]
      prototype[name] = by(own)
      return () => {
        prototype[name] = own
      }
    },
  }
}

const nothing = (): never => undefined as never

export const engineFlaws = {
  'a read under way outlives an invalidation': replaced(Looks, 'outdate', () => nothing),
  'a load under way outlives an invalidation': replaced(Flights, 'outdate', () => nothing),
  'a write under way outlives what undoes it': replaced(Writes, 'outdate', () => nothing),
  'a change that was not taken is forgotten': replaced(Outbox, 'missed', () => nothing),
  'a change that a failover lost is not repeated': replaced(Outbox, 'repeatRecent', () => nothing),
  'a deaf process believes its memory': replaced(Hearing, 'isDeaf', () => () => false),
  'no change by tag reaches what is in memory': replaced(Tags, 'changedSince', () => () => ({
    gone: false,
    expiredAt: Infinity,
  })),
  'frames are not held against their tags': replaced(Tags, 'judge', () => () => undefined),
  'failures are remembered for ever': replaced(Cooldowns, 'delete', () => nothing),
  'every message is taken for an echo': replaced(Echoes, 'isMine', () => () => true),
  'as many loads at once as are asked for': replaced(Limiter, 'enter', () => () => noPlace),
  'the store may take its time': replaced(Deadlines, 'add', () => nothing),
  'an open breaker lets everybody through': {
    engine() {
      const own = Object.getOwnPropertyDescriptor(Lane.prototype, 'isUp')!
      Object.defineProperty(Lane.prototype, 'isUp', { ...own, get: () => true })
      return () => void Object.defineProperty(Lane.prototype, 'isUp', own)
    },
  },
  'beats go on after the end': replaced(Hearing, 'stop', () => nothing),
  'one who leaves takes the load with him': replaced(
    Flight,
    'join',
    (own) =>
      function (this: Flight<unknown, unknown>, options: JoinOptions<unknown>) {
        const { signal } = options
        signal?.addEventListener('abort', () => this.controls.stop?.(signal.reason))
        return own.call(this, options)
      },
  ),
  'memory forgets nothing': {
    memory: (memory) => ({
      get changes() {
        return memory.changes
      },
      entries: 0,
      bytes: 0,
      evicted: 0,
      get: (key) => memory.get(key),
      set: (key, entry, bytes) => memory.set(key, entry, bytes),
      delete: () => {},
      clear: () => {},
    }),
  },
} as const satisfies Record<string, Flaw>
