/**
 * A server that answers and takes no writes, as the scripts in `redis/lua/` meet it: `OOM` (what
 * frees memory is still done) or `READONLY` (a replica).
 */
import type { Clock, StoreSession } from '../ports.ts'
import type { MemorySpace } from '../memory/memory-space.ts'

export type Refusal = 'OOM' | 'READONLY'

export class Refused extends Error {
  override name = 'ReplyError'
}

export function refusing(
  inner: StoreSession,
  space: MemorySpace,
  refusal: () => Refusal | undefined,
  clock: Clock,
): Partial<StoreSession> {
  const refused = (): Promise<never> =>
    Promise.reject(new Refused(`${refusal()} command not allowed`))
  const unless =
    <A extends unknown[], R>(which: readonly Refusal[], run: (...args: A) => Promise<R>) =>
    (...args: A): Promise<R> => {
      const why = refusal()
      return why !== undefined && which.includes(why) ? refused() : run(...args)
    }
  const any: readonly Refusal[] = ['OOM', 'READONLY']
  const replica: readonly Refusal[] = ['READONLY']
  return {
    acquire: (request) => {
      const why = refusal()
      if (why === undefined) return inner.acquire(request)
      const { key } = request
      const now = clock.now()
      const lease = space.leases.get(key, now)
      const until = space.leases.until(key, now)
      const answer = inner.acquire(request)
      // What it would have written was refused.
      if (lease === undefined) space.leases.delete(key)
      else space.leases.set(key, lease, until!, now)
      return answer.then((acquired) =>
        acquired.type === 'lease' ? { type: 'nolease', why } : acquired,
      )
    },
    publish: (request) => {
      if (refusal() !== 'OOM') return refusal() === undefined ? inner.publish(request) : refused()
      const { key } = request
      const now = clock.now()
      const frame = space.frames.get(key, now)
      const until = space.frames.until(key, now)
      return inner.publish(request).then((published) => {
        if (published !== 'ok') return published
        if (frame === undefined) space.frames.delete(key)
        else space.frames.set(key, frame, until!, now)
        return refused()
      })
    },
    touch: unless(any, (request) => inner.touch(request)),
    write: unless(any, (request) => inner.write(request)),
    bump: unless(any, (request) => inner.bump(request)),
    expire: (keys, id) => {
      if (refusal() === undefined) return inner.expire(keys, id)
      return refusal() === 'OOM' ? inner.invalidate(keys, id) : refused()
    },
    invalidate: unless(replica, (keys, id) => inner.invalidate(keys, id)),
    renew: unless(replica, (request) => inner.renew(request)),
    release: unless(replica, (request) => inner.release(request)),
    fail: unless(replica, (request) => inner.fail(request)),
  }
}
