// How large a filter is, how it is cut, and that its positions behave as the formula supposes.

import { describe, expect, it } from 'vitest'
import { BitShards } from '../../src/core/bit-shards.ts'
import { planShards } from '../../src/core/bloom-shards.ts'
import { bloomSize, expectedErrorRate, positionsOf } from '../../src/core/bloom.ts'

const formula = (capacity: number, errorRate: number) =>
  (-capacity * Math.log(errorRate)) / Math.LN2 ** 2

describe('the size of a filter', () => {
  it.each([
    { given: { capacity: 1_000_000, errorRate: 0.01 }, expected: { bits: 9_592_955, hashes: 7 } },
    {
      given: { capacity: 1_000_000, errorRate: 0.001 },
      expected: { bits: 14_377_640, hashes: 10 },
    },
    { given: { capacity: 1_000, errorRate: 0.5 }, expected: { bits: 1_443, hashes: 1 } },
    { given: { capacity: 1, errorRate: 0.9 }, expected: { bits: 1, hashes: 1 } },
  ])('of $given is $expected', ({ given, expected }) => {
    expect(bloomSize(given)).toEqual(expected)
  })

  it.each([0.1, 0.05, 0.01, 0.001, 1e-4, 1e-6])(
    'is within 1 %% of the formula at %s',
    (errorRate) => {
      const { bits } = bloomSize({ capacity: 1_000_000, errorRate })
      expect(bits).toBeGreaterThanOrEqual(formula(1_000_000, errorRate) - 1)
      expect(bits).toBeLessThan(formula(1_000_000, errorRate) * 1.01)
    },
  )

  it.each([0.9, 0.5, 0.3, 0.01, 0.0001])('is right for what is asked: %s', (errorRate) => {
    const wanted = { capacity: 100_000, errorRate }
    const rate = expectedErrorRate(planShards(wanted, 0), wanted.capacity)
    expect(rate).toBeLessThanOrEqual(errorRate * 1.0001)
    expect(rate).toBeGreaterThan(errorRate * 0.99)
  })
})

describe('the shards of a filter', () => {
  it.each([1, 1_000, 100_000, 1_000_000, 10_000_000, 100_000_000, 1_000_000_000])(
    'of %s ids are whole, of a size that Redis moves easily, and hold what is needed',
    (capacity) => {
      const { shards, shardBits, bits } = planShards({ capacity, errorRate: 0.01 }, 12)
      expect(shardBits % 8).toBe(0)
      expect(shardBits / 8).toBeLessThanOrEqual(256 * 1024)
      expect(shards * shardBits).toBeGreaterThanOrEqual(bits)
      // Less than a byte for each of them.
      expect(shards * shardBits).toBeLessThan(bits + 8 * shards + 8)
    },
  )
})

describe('positions', () => {
  it('lie within the shard, whatever the digest, and differ where there is room', () => {
    const geometry = { shards: 1, shardBits: 8_000, hashes: 10 }
    const out = new Uint32Array(10)
    for (const [a, b] of [
      [0, 0],
      [2 ** 32 - 1, 2 ** 32 - 1],
      [7_999, 7_999],
      [5, 4_000],
      [0, 8_000],
    ]) {
      positionsOf(Uint32Array.of(a!, b!, 0, 0), geometry, out)
      expect(Math.max(...out)).toBeLessThan(8_000)
      expect(new Set(out).size).toBeGreaterThan(7)
    }
  })

  it('are those that a filter finds again', () => {
    const bits = new BitShards({ shards: 3, shardBits: 8, hashes: 5 })
    for (let n = 0; n < 50; n += 1) {
      const digest = Uint32Array.of(n * 7_919, n * 104_729, n, n)
      bits.add(digest)
      expect(bits.has(digest)).toBe(true)
    }
  })
})
