import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { expect, test } from 'vitest'
import { createCache } from '../../src/index.ts'
import { manualClock } from '../../src/testing/index.ts'

function setUp(maxEntries: number) {
  const loads: string[] = []
  const cache = createCache({
    namespace: 'places',
    ttl: '10m',
    clock: manualClock(),
    memory: { maxEntries },
  })
  const item = cache.define({
    name: 'item',
    load: (id: string | number) => {
      loads.push(String(id))
      return { id, n: loads.length }
    },
  })
  return { cache, item, loads }
}

test('what is asked for again and again outlives what is asked for once', async () => {
  const { item, loads } = setUp(10)
  await item.get('hot')
  for (let n = 0; n < 100; n++) {
    await item.get(`cold ${n}`)
    await item.get('hot')
  }
  expect(loads.filter((id) => id === 'hot')).toHaveLength(1)
})

test('of two that are used, the one that is used less lately goes first', async () => {
  const { item, loads } = setUp(3)
  for (const id of ['a', 'b', 'c', 'd', 'b', 'c', 'e']) await item.get(id)
  loads.length = 0
  for (const id of ['c', 'b', 'e']) await item.get(id)
  expect(loads).toEqual([])
  await item.get('d')
  expect(loads).toEqual(['d'])
})

test('what memory has dropped is not answered from anywhere else', async () => {
  const { cache, item, loads } = setUp(2)
  const ways: (() => unknown)[] = [
    () => item.invalidate('a'),
    () => item.clear(),
    () => cache.clear(),
    () => item.set('a', { id: 'a', n: -1 }),
    () => item.refresh('a'),
    async () => {
      await item.get('b')
      await item.get('c')
    },
  ]
  for (const drop of ways) {
    const before = await item.get('a')
    expect(await item.get('a')).toBe(before)
    await drop()
    expect(await item.get('a')).not.toBe(before)
  }
  expect(loads.length).toBeGreaterThanOrEqual(ways.length)
})

test('a number and the text of it are two entries', async () => {
  const { item } = setUp(10)
  for (let n = 0; n < 2; n++) {
    expect((await item.get(1)).id).toBe(1)
    expect((await item.get('1')).id).toBe('1')
  }
})

test('more arguments than are remembered are still answered from memory', async () => {
  const { item, loads } = setUp(10_000)
  for (let round = 0; round < 2; round++) {
    for (let n = 0; n < 5_000; n++) expect((await item.get(n)).id).toBe(n)
  }
  expect(loads).toHaveLength(5_000)
})

test('keeps nothing alive that memory has dropped', async () => {
  setFlagsFromString('--expose-gc')
  const gc = runInNewContext('gc') as () => void
  const { item } = setUp(5)
  const first = await (async () => new WeakRef(await item.get('first')))()
  await item.get('first')
  for (let n = 0; n < 10; n++) await item.get(n)
  await new Promise((resolve) => setTimeout(resolve, 10))
  gc()
  expect(first.deref()).toBeUndefined()
})

test('who is asked for all the time is not the first to go, although others came later', async () => {
  const { item, loads } = setUp(3)
  for (const id of ['a', 'b', 'c', 'a', 'b', 'c']) await item.get(id)
  for (let n = 0; n < 100; n++) await item.get('a')
  await item.get('d')
  loads.length = 0
  await item.get('a')
  expect(loads).toEqual([])
})
