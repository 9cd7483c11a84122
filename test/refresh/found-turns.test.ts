// Found by a review of refreshes ahead: loaders that answer at once followed each other in one turn of
// the event loop, and a hundred thousand keys held it for twelve seconds.

import { expect, test } from 'vitest'
import { createCache } from '../../src/index.ts'

test('many keys whose loaders answer at once let the event loop through', async () => {
  const cache = createCache({ namespace: 'test', ttl: '3h', memory: { maxEntries: 10_000 } })
  const perTurn = new Map<number, number>()
  let turn = 0
  let loads = 0
  const tick = (): void => {
    turn++
    ticking = setImmediate(tick)
  }
  let ticking = setImmediate(tick)
  cache.define({
    name: 'item',
    load: (id: string) => {
      loads++
      perTurn.set(turn, (perTurn.get(turn) ?? 0) + 1)
      return id
    },
    precompute: {
      every: '1h',
      args: Array.from({ length: 4_000 }, (_, n) => `k${n}`),
      onMiss: 'wait',
    },
  })
  while (loads < 4_000) await new Promise((resolve) => setTimeout(resolve, 10))
  await cache.clear()
  while (loads < 8_000) await new Promise((resolve) => setTimeout(resolve, 10))
  clearImmediate(ticking)
  expect(Math.max(...perTurn.values())).toBeLessThan(200)
  await cache.close()
})
