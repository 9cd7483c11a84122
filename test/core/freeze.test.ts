import { expect, test } from 'vitest'
import { deepFreeze } from '../../src/core/freeze.ts'

test('plain objects and arrays are frozen to the bottom, also inside Maps and Sets', () => {
  const inMap = { a: 1 }
  const inSet = [1]
  const value = { list: [{ deep: [1] }], map: new Map([[inMap, [inMap]]]), set: new Set([inSet]) }
  expect(deepFreeze(value)).toBe(value)
  for (const one of [value, value.list, value.list[0], value.list[0]!.deep, inMap, inSet]) {
    expect(Object.isFrozen(one)).toBe(true)
  }
})

test('what has state beside its properties is left as it is', () => {
  class Point {
    x = 1
  }
  const kept = {
    at: new Date(5),
    body: Buffer.from('a'),
    numbers: Float64Array.of(1),
    map: new Map(),
    point: new Point(),
    error: new Error('x'),
  }
  deepFreeze(kept)
  for (const one of Object.values(kept)) expect(Object.isFrozen(one)).toBe(false)
})

test.each([null, undefined, 5, 'text', true, 5n])('%s needs no freezing', (value) => {
  expect(deepFreeze(value)).toBe(value)
})

test('cycles end, and depth does not end the stack', () => {
  const cycle: { self?: unknown } = {}
  cycle.self = [cycle]
  expect(Object.isFrozen(deepFreeze(cycle))).toBe(true)
  let deep: unknown[] = []
  const bottom = deep
  for (let i = 0; i < 200_000; i++) deep = [deep]
  deepFreeze(deep)
  expect(Object.isFrozen(bottom)).toBe(true)
})

test('a Map or Set that contains itself ends, and what is beside it is frozen', () => {
  const list = [1]
  const map = new Map<unknown, unknown>()
  const set = new Set<unknown>([map, list])
  map.set(set, map)
  map.set(map, { set, list })
  deepFreeze({ map })
  expect([map.get(map), list].map((one) => Object.isFrozen(one))).toEqual([true, true])
})

test('an own __proto__ is frozen like any property (T126)', () => {
  const value = JSON.parse('{"__proto__":{"a":[1]}}') as Record<string, { a: number[] }>
  deepFreeze(value)
  expect(Object.isFrozen(value['__proto__']!.a)).toBe(true)
  expect(Object.isFrozen(Object.prototype)).toBe(false)
})
