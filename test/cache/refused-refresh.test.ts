// A precaution: what joins in the very turn in which a flight is refused.

import { expect, it } from 'vitest'
import { createCache } from '../../src/index.ts'
import { manualClock } from '../../src/testing/index.ts'
import { watched } from '../support/watched.ts'

it('no-refresh: who joins a queued refresh that is refused in the same turn is loaded for', async () => {
  const clock = manualClock()
  const cache = createCache({
    namespace: 'test',
    ttl: '1s',
    jitter: 0,
    staleWhileRevalidate: '2s',
    clock,
    limit: { concurrency: 1 },
    loadTimeout: '30s',
  })
  let a = 0
  const get = () => watched(cache.getOrLoad('a', () => ++a))
  get()
  await clock.advance('2s')
  let open!: () => void
  watched(cache.getOrLoad('x', () => new Promise<void>((r) => (open = r))))
  get()
  await clock.advance('5s')
  cache.switchTo('no-refresh')
  const got: ReturnType<typeof watched>[] = []
  open()
  for (let n = 0; n < 30; n++) {
    await Promise.resolve()
    got.push(get())
  }
  await clock.advance(100)
  expect(got.map(({ state }) => state)).toEqual(got.map(() => 'resolved'))
})
