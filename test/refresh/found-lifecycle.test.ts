// Found by a review of refreshes ahead: at the edges of a key's life, and of the cache's.

import { describe, expect, it, test } from 'vitest'
import { port } from '../../src/ports.ts'
import { aheadRig } from '../support/ahead-rig.ts'
import { watched } from '../support/watched.ts'

const minute = 60_000
const placeholder = (id: string) => ({ id, n: 0 })

test('T061 what is invalidated during its first load is made again at once', async () => {
  const { process, run, of, source } = aheadRig()
  const { item } = process({ args: ['a'] })
  source.ms = 500
  await run(600)
  expect(of('a')).toHaveLength(1)
  await item.invalidate('a')
  await run(2_000)
  expect(of('a')).toHaveLength(2)
  expect((await item.peek('a')).state).toBe('fresh')
})

test('a key that failed while it was asked for and is listed then is made by schedule', async () => {
  const { process, run, of, source } = aheadRig()
  let list = ['b']
  const onMiss = { onMiss: 'placeholder', placeholder } as const
  const { item } = process({ args: () => list, ...onMiss }, {}, { errorBackoff: '15s' })
  await run(55_000)
  source.fails = new Error('down')
  await item.get('a')
  await run(200)
  expect(of('a')).toHaveLength(1)
  source.fails = undefined
  list = ['a', 'b']
  await run(3 * minute)
  expect(of('a').length).toBeGreaterThanOrEqual(3)
})

test.each([{ alone: true }, {}])(
  'what this process has no room for is no failure of the source, and is made when there is (%j)',
  async (how) => {
    const { process, run, alerts, loads, pause } = aheadRig()
    const { cache } = process({ args: ['a'] }, { ...how, limit: { concurrency: 1, queue: 0 } })
    const other = cache.define({
      name: 'other',
      load: async () => pause(20_000),
      ttl: '1m',
    })
    other.get().catch(() => {})
    await run(15_000)
    expect(loads).toEqual([])
    expect(cache.counters()['item']!.overloaded).toBeGreaterThan(3)
    expect(cache.counters()['item']!.overloaded).toBeLessThan(20)
    await run(10_000)
    expect(loads).toHaveLength(1)
    expect(alerts).toEqual([])
  },
)

describe('close()', () => {
  it('begins no refresh that was only waiting for its turn', async () => {
    const { process, run, loads, source } = aheadRig()
    source.ms = 200
    const { cache } = process({ args: Array.from({ length: 100 }, (_, n) => `k${n}`) })
    await run(550)
    const at = loads.length
    expect(at).toBeLessThan(100)
    const closing = cache.close({ timeout: '5s' })
    await run(6_000)
    await closing
    expect(loads.length).toBe(at)
  })

  it('ends the reading of arguments that have no end', async () => {
    const { process, run } = aheadRig()
    let read = 0
    let ended = 0
    const { cache } = process({
      args: function* () {
        try {
          for (;;) {
            read++
            yield 'a'
          }
        } finally {
          ended++
        }
      },
    })
    await run(200)
    await cache.close()
    await new Promise((resolve) => setTimeout(resolve, 20))
    const at = read
    await new Promise((resolve) => setTimeout(resolve, 20))
    expect(read).toBe(at)
    expect(ended).toBe(1)
  })
})

test('arguments that come late undo nothing of those that were asked for after them', async () => {
  const { process, run, of, pause } = aheadRig()
  let reads = 0
  process({
    args: async function* () {
      const isFirst = reads++ === 0
      yield 'a'
      if (isFirst) await pause(90_000)
      yield isFirst ? 'old' : 'new'
    },
  })
  await run(85_000)
  expect(of('new')).toHaveLength(1)
  await run(4 * minute)
  expect(of('new').length).toBeGreaterThanOrEqual(4)
  expect(of('old')).toEqual([])
})

test.each(['wait', 'placeholder'] as const)(
  "onMiss '%s': what the guard refuses is loaded by nobody",
  async (onMiss) => {
    const { process, run, of } = aheadRig()
    // One that has to ask, as a shared one does.
    const guard = { [port]: 'guard', know: () => undefined, ask: async () => false, add() {} }
    const how = onMiss === 'wait' ? { onMiss } : { onMiss, placeholder }
    const { item } = process({ args: ['a'], ...how }, {}, { guard })
    await run(1_000)
    const got = watched(item.lookup('x'))
    await run(1_000)
    expect(got.value).toMatchObject({ outcome: 'refused' })
    expect(of('x')).toEqual([])
  },
)
