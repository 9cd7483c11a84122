// Commands that a server does not have (`rename-command`, a proxy, a managed service): what can be
// done without them is done, and a breaker does not open and close for ever.

import { startRedisServer, type RedisServer } from '@breakwater/rig'
import { describe, expect, it } from 'vitest'
import { createCache, type Cache } from '../../src/index.ts'
import { libraries } from '../support/every-library.ts'
import { sleep, until } from '../support/open-session.ts'

/** On a server without these commands, for a while of reads that miss and reads that hit. */
async function without(
  commands: readonly string[],
  run: (cache: Cache, opened: () => number) => Promise<void>,
): Promise<void> {
  const args = commands.flatMap((name) => ['--rename-command', name, ''])
  const server: RedisServer = await startRedisServer({ args })
  const caches: Cache[] = []
  try {
    const each = libraries.map(async (one, n) => {
      // Else ioredis asks INFO whether its server is ready, for ever.
      const store = one.store(server, { enableReadyCheck: false })
      const options = { namespace: `off-${n}`, ttl: '1h', memory: false, store } as const
      const cache = createCache({ ...options, storeTimeout: '3s' })
      caches.push(cache)
      let opened = 0
      cache.on('breaker', ({ state }) => (opened += state === 'open' ? 1 : 0))
      await run(cache, () => opened)
    })
    await Promise.all(each)
  } finally {
    await Promise.all(caches.map((cache) => cache.close({ timeout: 100 })))
    for (const { end } of libraries) end()
    await server.stop()
  }
}

const together = (cache: Cache, turn: number) =>
  Promise.all([
    cache.getOrLoad('there', () => 'not this'),
    cache.getOrLoad(`missing ${turn}`, () => 'loaded'),
  ])

describe('a server without', () => {
  it('MGET and INFO: keys are read one by one', () =>
    without(['MGET', 'INFO'], async (cache, opened) => {
      await until(() => cache.health().store === 'up')
      await cache.set('there', 'there')
      for (let turn = 0; turn < 20; turn++) {
        expect(await together(cache, turn)).toEqual(['there', 'loaded'])
        await sleep(10)
      }
      expect(opened()).toBe(0)
    }))

  it('PUBLISH: deaf, loads are shared, changes reject', () =>
    without(['PUBLISH'], async (cache, opened) => {
      await until(() => cache.health().store === 'up')
      expect(await cache.getOrLoad('there', () => 'there')).toBe('there')
      await cache.idle()
      const unavailable = { code: 'STORE_UNAVAILABLE' }
      await expect(cache.invalidate('changed')).rejects.toMatchObject(unavailable)
      await expect(cache.set('changed', 1)).rejects.toMatchObject(unavailable)
      for (let turn = 0; turn < 20; turn++) {
        expect(await together(cache, turn)).toEqual(['there', 'loaded'])
        await sleep(20)
      }
      expect(cache.health()).toEqual(
        expect.objectContaining({ status: 'degraded', store: 'up', bus: 'silent' }),
      )
      expect(opened()).toBe(0)
    }))

  it('SUBSCRIBE: deaf, and all else works', () =>
    without(['SUBSCRIBE'], async (cache, opened) => {
      await until(() => cache.health().store === 'up')
      await cache.set('there', 'there')
      for (let turn = 0; turn < 10; turn++) {
        expect(await together(cache, turn)).toEqual(['there', 'loaded'])
        await sleep(10)
      }
      await cache.invalidate('there')
      expect(await cache.getOrLoad('there', () => 'new')).toBe('new')
      await cache.idle()
      expect(cache.counters()['']).toMatchObject({ published: 11, unleasedStore: 0 })
      expect(cache.health()).toMatchObject({ store: 'up', bus: 'silent' })
      expect(opened()).toBe(0)
    }))

  it('scripts: as good as none, all is loaded, and nothing hangs', () =>
    without(['EVALSHA', 'EVAL'], async (cache, opened) => {
      const from = performance.now()
      for (let turn = 0; turn < 20; turn++) {
        expect(await cache.getOrLoad(`missing ${turn}`, () => 'loaded')).toBe('loaded')
        await sleep(20)
      }
      expect(performance.now() - from).toBeLessThan(2_000)
      expect(cache.health()).toMatchObject({ status: 'degraded', store: 'down' })
      await expect(cache.invalidate('k')).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' })
      expect(opened()).toBe(1)
    }))
})
