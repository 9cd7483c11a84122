/** A server, a bus and sessions that do not keep the protocol. */
import { isNewer } from '../memory/frame-bytes.ts'
import type { EpochNews } from '../ports.ts'
import type { Flaw } from './flaws.ts'

const withoutMarks = (news: EpochNews): EpochNews => ({ ...news, floor: 0, marks: [] })

/** Neither when they are asked for nor with a beat. */
const withoutNews: NonNullable<Flaw['server']> = (session) => ({
  epochs: async (request) => withoutMarks(await session.epochs(request)),
  beat: async (n, asked) => {
    const beat = await session.beat(n, asked)
    const news = beat.news.then((told) => told && withoutMarks(told))
    return { ...beat, news }
  },
})

export const serverFlaws = {
  'a publish is taken whoever holds the lease': {
    server: (session, { space, clock }) => ({
      async publish({ key, frame, lifeMs }) {
        const now = clock.now()
        space.frames.set(key, new Uint8Array(frame), now + lifeMs, now)
        space.leases.delete(key)
        return 'ok'
      },
    }),
  },
  'a publish is taken when the lease is gone': {
    server: (session, { space, clock }) => ({
      publish(request) {
        const { key, frame, lifeMs } = request
        const now = clock.now()
        if (space.leases.get(key, now) !== undefined || isNewer(space.frames.get(key, now)))
          return session.publish(request)
        space.frames.set(key, new Uint8Array(frame), now + lifeMs, now)
        return Promise.resolve('ok')
      },
    }),
  },
  'an invalidation leaves the lease': {
    server: (session, { space, clock }) => ({
      invalidate(keys, id) {
        const now = clock.now()
        const held = keys.map((key) => [space.leases.get(key, now), space.leases.until(key, now)] as const)
        const done = session.invalidate(keys, id)
        for (const [n, [lease, until]] of held.entries()) {
          if (lease !== undefined) space.leases.set(keys[n]!, lease, until!, now)
        }
        return done
      },
    }), // prettier-ignore
  },
  'a lease is given to everybody': {
    server: (session) => ({
      async acquire(request) {
        const answer = await session.acquire(request)
        return answer.type === 'wait' ? { type: 'lease' } : answer
      },
    }),
  },
  'a lease never ends': {
    server: (session) => ({
      acquire: (request) => session.acquire({ ...request, leaseMs: 1e9 }),
      renew: (request) => session.renew({ ...request, leaseMs: 1e9 }),
    }),
  },
  'a lease is given back by whoever asks': {
    server: (session, { space }) => ({
      async release({ key }) {
        space.leases.delete(key)
      },
    }),
  },
  'nobody is told of invalidations': {
    loses: ({ type }) => type === 'invalidated' || type === 'expired' || type === 'written',
  },
  'nobody is told of changes by tag': {
    loses: ({ type }) => type === 'bumped',
    server: withoutNews,
  },
  'what is asked about tags is answered with nothing': {
    server: withoutNews,
  },
  'beats come back that nobody has heard': {
    client: (session, scope) => ({
      async beat(n, asked) {
        const beat = await session.beat(n, asked)
        scope.onMessage({ type: 'beat', n, through: 'memory' })
        return beat
      },
    }),
  },
  'a write lands however late': {
    server: (session) => ({
      write: (request) => session.write({ ...request, notAfter: Infinity }),
    }),
  },
  'a write leaves the lease': {
    server: (session, { space, clock }) => ({
      write(request) {
        const now = clock.now()
        const { key } = request
        const [lease, until] = [space.leases.get(key, now), space.leases.until(key, now)]
        const done = session.write(request)
        if (lease !== undefined) space.leases.set(key, lease, until!, now)
        return done
      },
    }),
  },
  'nobody learns that another server has taken over': {
    client: (session) => ({
      beat: async (n, asked) => ({ ...(await session.beat(n, asked)), server: 'the same' }),
    }),
  },
  'what is expired stays fresh': {
    server: (session, { space, clock }) => ({
      expire(keys, id) {
        const now = clock.now()
        const held = keys.map((key) => {
          const frame = space.frames.get(key, now)
          return [frame && new Uint8Array(frame), space.frames.until(key, now)] as const
        })
        const done = session.expire(keys, id)
        for (const [n, [frame, until]] of held.entries()) {
          if (frame !== undefined) space.frames.set(keys[n]!, frame, until!, now)
        }
        return done
      },
    }),
  },
  'what was found unreadable is given again': {
    server: (session) => ({
      acquire: (request) =>
        session.acquire({ ...request, seen: request.seen === 'unreadable' ? undefined : request.seen }),
    }), // prettier-ignore
  },
  'reads are answered by a replica that lags': {
    server: (session, { space, clock }) => {
      const before = new Map<string, { readonly frame: Uint8Array; readonly at: number }>()
      const lagMs = 300
      return {
        async read(key) {
          const now = clock.now()
          const old = before.get(key)
          const frame = await session.read(key)
          if (frame !== undefined) before.set(key, { frame, at: now })
          return frame ?? (old !== undefined && now - old.at < lagMs ? old.frame : undefined)
        },
        renew: (request) => {
          void space
          return session.renew(request)
        },
      }
    },
  },
} as const satisfies Record<string, Flaw>
