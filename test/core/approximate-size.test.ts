import { expect, test } from 'vitest'
import { approximateSize } from '../../src/core/approximate-size.ts'

const rows = (count: number): unknown[] =>
  Array.from({ length: count }, (_, id) => ({ id, name: 'x'.repeat(100), price: 1.5 }))

test.each([
  { name: 'null', value: null, least: 1, most: 16 },
  { name: 'text', value: 'x'.repeat(1000), least: 1000, most: 2100 },
  { name: 'bytes', value: Buffer.alloc(5000), least: 5000, most: 5200 },
  { name: 'ten rows', value: rows(10), least: 1_100, most: 3_000 },
  { name: 'a hundred thousand rows', value: rows(100_000), least: 11e6, most: 30e6 },
  { name: 'a Map', value: new Map(rows(50).map((row, i) => [i, row])), least: 5_500, most: 25_000 },
])('$name counts about as much as it takes', ({ value, least, most }) => {
  const size = approximateSize(value)
  expect(size).toBeGreaterThanOrEqual(least)
  expect(size).toBeLessThanOrEqual(most)
})

test('a huge value is not walked through', () => {
  let looks = 0
  const huge = Array.from(
    { length: 20_000 },
    () =>
      new Proxy(
        { id: 5 },
        {
          getOwnPropertyDescriptor(row, name) {
            looks++
            return Object.getOwnPropertyDescriptor(row, name)
          },
        },
      ),
  )
  expect(approximateSize([huge, huge, new Set(huge), { huge }])).toBeGreaterThan(20_000 * 8)
  expect(looks).toBeLessThanOrEqual(2_000) // each twice: keys() asks as well
})

test('no getter is run', () => {
  let runs = 0
  const value = {
    get token(): number {
      return ++runs
    },
  }
  approximateSize([value])
  expect(runs).toBe(0)
})

test('cycles, depth and throwing getters give an estimate, never an exception', () => {
  const cycle: unknown[] = []
  cycle.push(cycle, cycle)
  let deep: unknown[] = []
  for (let i = 0; i < 100_000; i++) deep = [deep]
  const throwing = {
    get x(): never {
      throw new Error('no')
    },
  }
  for (const value of [cycle, deep, throwing, () => 1, Symbol('s')]) {
    expect(approximateSize(value)).toBeGreaterThan(0)
    expect(approximateSize(value)).toBeLessThan(1e6)
  }
})
