// The default clock under the fake timers of test runners, set before or after the cache was made.

import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { createCache } from '../../src/index.ts'
import { memoryStore } from '../../src/testing/index.ts'

afterEach(() => {
  vi.useRealTimers()
})

const never = (_: string) => new Promise<string>(() => {})

describe.each(['before', 'after'] as const)('vi.useFakeTimers, %s the cache was made', (when) => {
  describe.each(['alone', 'with a store'] as const)('%s', (where) => {
    const make = async () => {
      if (when === 'before') vi.useFakeTimers()
      const store = where === 'alone' ? {} : { store: memoryStore() }
      const cache = createCache({ namespace: 'test', ttl: '60s', jitter: 0, earlyRefresh: false, ...store }) // prettier-ignore
      if (when === 'after') vi.useFakeTimers()
      await vi.advanceTimersByTimeAsync(100)
      return cache
    }

    it('entries live by the time that the test tells', async () => {
      const cache = await make()
      let loads = 0
      const item = cache.define({ name: 'item', load: (_: string) => ++loads })
      expect(await item.get('a')).toBe(1)
      await vi.advanceTimersByTimeAsync(59_000)
      expect(await item.get('a')).toBe(1)
      await vi.advanceTimersByTimeAsync(2_000)
      expect(await item.get('a')).toBe(2)
      expect(await item.peek('a')).toMatchObject({ state: 'fresh', value: 2 })
    })

    it('instants are those of Date', async () => {
      const cache = await make()
      const item = cache.define({ name: 'item', load: (_: string) => 1 })
      const found = await item.lookup('a')
      expect(found).toMatchObject({ outcome: 'loaded' })
      if (!('storedAt' in found)) return
      expect(Math.abs(found.storedAt - Date.now())).toBeLessThan(1_000)
      expect(Math.abs(found.freshUntil - Date.now() - 60_000)).toBeLessThan(1_000)
    })

    it('deadlines of loads and calls fall due', async () => {
      const cache = await make()
      const item = cache.define({ name: 'item', load: never, loadTimeout: '30s' })
      const given = [item.get('a'), item.get('a', { timeout: '1s' })]
      const settled = Promise.allSettled(given)
      await vi.advanceTimersByTimeAsync(1_500)
      expect(vi.isFakeTimers()).toBe(true)
      await vi.advanceTimersByTimeAsync(30_000)
      expect(await settled).toMatchObject([
        { reason: { code: 'LOAD_TIMEOUT' } },
        { reason: { code: 'WAIT_TIMEOUT' } },
      ])
      const closing = cache.close()
      await vi.advanceTimersByTimeAsync(10_000)
      await closing
    })

    it('a load that spans the return to real timers still ends', async () => {
      const cache = await make()
      let end!: (value: string) => void
      const load = (_: string) => new Promise<string>((resolve) => (end = resolve))
      const item = cache.define({ name: 'item', load })
      const got = item.get('a')
      await vi.advanceTimersByTimeAsync(10)
      vi.useRealTimers()
      end('value')
      expect(await got).toBe('value')
      expect(await item.get('a')).toBe('value')
    })
  })
})

describe('node:test mock.timers', () => {
  const built = fileURLToPath(new URL('../../dist/', import.meta.url))
  const program = (when: 'before' | 'after', apis: string): string => `
    import { test, mock } from 'node:test'
    import assert from 'node:assert/strict'
    import { createCache } from ${JSON.stringify(`${built}index.js`)}
    import { memoryStore } from ${JSON.stringify(`${built}testing/index.js`)}
    const breath = () => new Promise((resolve) => setImmediate(resolve))
    for (const store of [undefined, memoryStore()]) test('it', async () => {
      const awake = setInterval(() => {}, 1000) // timers of the cache keep no process alive
      const enable = () => mock.timers.enable({ apis: ${apis}, now: 1_700_000_000_000 })
      if (${when === 'before'}) enable()
      const cache = createCache({ namespace: 'a', ttl: '60s', jitter: 0, earlyRefresh: false, store })
      if (${when === 'after'}) { await breath(); enable() }
      await breath()
      let loads = 0
      const item = cache.define({ name: 'item', load: async (_) => ++loads })
      assert.equal(await item.get('a'), 1)
      assert.equal(await item.get('a'), 1)
      mock.timers.tick(61_000)
      await breath(); await breath()
      assert.equal(await item.get('a'), 2)
      const slow = cache.define({ name: 'slow', load: () => new Promise(() => {}) })
      const settled = Promise.allSettled([slow.get('a', { timeout: '1s' })])
      await breath(); await breath()
      mock.timers.tick(1_100)
      const [{ reason }] = await settled
      assert.equal(reason.code, 'WAIT_TIMEOUT')
      mock.timers.reset()
      await cache.close({ timeout: '100ms' })
      clearInterval(awake)
    })`
  it.each(['before', 'after'] as const)('set %s the cache was made, move its time', (when) => {
    const folder = mkdtempSync(join(tmpdir(), 'breakwater-fake-'))
    const file = join(folder, 'fake.test.mjs')
    try {
      writeFileSync(file, program(when, "['setTimeout', 'Date']"))
      const { NODE_TEST_CONTEXT: _, ...env } = process.env
      const said = run(file, env)
      expect(said).toMatch(/pass 2\b/)
      expect(said).toMatch(/fail 0\b/)
    } finally {
      rmSync(folder, { recursive: true, force: true })
    }
  })
})

function run(file: string, env: NodeJS.ProcessEnv): string {
  try {
    return execFileSync(process.execPath, ['--test', '--test-timeout=10000', file], {
      encoding: 'utf8',
      stdio: 'pipe',
      env,
    })
  } catch (error) {
    return (error as { stdout: string }).stdout
  }
}
