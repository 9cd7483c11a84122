// A correct cache is never accused. Two processes read, refresh and change at random; whoever writes
// to the source tells the cache within 600 ms. A seed that fails is in the message.

import { expect, it, onTestFinished } from 'vitest'
import { createCache, type CacheOptions } from '../../src/index.ts'
import { manualClock, memoryStore } from '../../src/testing/index.ts'

interface Row {
  readonly version: number
  readonly at: Date
}

function dice(seed: number): () => number {
  let state = seed * 7_919
  return () => (state = (state * 1_103_515_245 + 12_345) & 0x7fffffff) / 0x80000000
}

async function history(seed: number): Promise<Record<string, number>> {
  const random = dice(seed)
  const clock = manualClock()
  const after = (ms: number) => new Promise<void>((resolve) => void clock.after(ms, resolve))
  const rows = new Map<number, number | null>([0, 1, 2].map((id) => [id, 0]))
  const told: Record<string, number> = {}
  const options: CacheOptions = {
    namespace: 'storm',
    ttl: '20s',
    staleWhileRevalidate: '10s',
    staleIfError: '1h',
    negativeTtl: '5s',
    clock: { ...clock, random },
    store: memoryStore(),
    values: (['freeze', 'clone', 'share'] as const)[seed % 3]!,
    verify: { sample: 1, perSecond: 1_000 },
  }
  const processes = [0, 1].map(() => {
    const cache = createCache(options)
    onTestFinished(() => cache.close({ timeout: 0 }))
    cache.on('verified', ({ result }) => (told[result] = (told[result] ?? 0) + 1))
    const item = cache.define({
      name: 'item',
      memory: seed % 5 !== 0,
      tags: (_: Row | null, id: number) => [`row-${id}`],
      load: async (id: number): Promise<Row | null> => {
        const version = rows.get(id)!
        await after(1 + random() * 300)
        if (random() < 0.1) throw new Error('the source is down')
        return version === null ? null : { version, at: new Date(version) }
      },
    })
    const changes = [
      (id: number) => item.invalidate(id),
      (id: number) => item.expire(id),
      (id: number) => cache.invalidateTags(`row-${id}`),
      (id: number) => cache.expireTags(`row-${id}`),
      () => cache.clear(),
    ]
    return { item, changes }
  })
  for (let step = 0; step < 300; step++) {
    const { item, changes } = processes[random() < 0.5 ? 0 : 1]!
    const id = Math.floor(random() * 3)
    const what = random()
    if (what < 0.7) void item.get(id).catch(() => {})
    else if (what < 0.8) void item.getManySettled([0, 1, 2])
    else if (what < 0.84) void item.refresh(id).catch(() => {})
    else if (what < 0.96 && step > 50) {
      rows.set(id, random() < 0.2 ? null : step)
      const change = changes[Math.floor(random() * changes.length)]!
      void after(random() * 600).then(() => change(id))
    }
    await clock.advance(Math.floor(random() * (random() < 0.1 ? 9_000 : 120)))
  }
  await clock.advance('5s')
  return told
}

it.each([1, 2, 3, 4, 5, 6])('no value is accused in the history of seed %i', async (seed) => {
  const { different = 0, same = 0, overtaken = 0 } = await history(seed)
  expect({ seed, different }).toEqual({ seed, different: 0 })
  expect(same + overtaken).toBeGreaterThan(50)
})
