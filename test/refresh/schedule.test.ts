import { describe, expect, it, test } from 'vitest'
import { dueAfter, everySchedule, shareOf } from '../../src/core/schedule.ts'

const everyMinute = everySchedule(60_000)

describe('a value is due anew', () => {
  it.each([
    { loaded: [0, 0], share: 0, due: 60_000 },
    { loaded: [1, 5], share: 0, due: 60_000 },
    // Just before a period begins: a quarter of one must lie between two refreshes.
    { loaded: [44_999, 44_999], share: 0, due: 60_000 },
    { loaded: [45_000, 45_000], share: 0, due: 120_000 },
    { loaded: [59_999, 59_999], share: 0, due: 120_000 },
    // A period that began while it was loaded has been missed, and is not made up for.
    { loaded: [1_000, 59_999], share: 0, due: 60_000 },
    { loaded: [1_000, 60_000], share: 0, due: 120_000 },
    { loaded: [1_000, 190_000], share: 0, due: 240_000 },
    // By the key's own share.
    { loaded: [0, 0], share: 0.5, due: 30_000 },
    { loaded: [14_999, 14_999], share: 0.5, due: 30_000 },
    { loaded: [15_000, 15_000], share: 0.5, due: 90_000 },
    { loaded: [30_000, 30_020], share: 0.5, due: 90_000 },
  ])('loaded $loaded, share $share: at $due', ({ loaded: [startedAt, storedAt], share, due }) => {
    expect(dueAfter(everyMinute, share, { startedAt: startedAt!, storedAt: storedAt! })).toBe(due)
  })

  test('within one and a quarter periods of its load, and never within a quarter', () => {
    for (let n = 0; n < 1_000; n++) {
      const at = 1_700_000_000_000 + n * 137.3
      const gap = dueAfter(everyMinute, shareOf(`k${n}`), { startedAt: at, storedAt: at }) - at
      expect(gap).toBeGreaterThanOrEqual(15_000)
      expect(gap).toBeLessThanOrEqual(75_000)
    }
  })
})

test('keys are spread evenly over a period, the same in every process', () => {
  const tenths = Array.from({ length: 10 }, () => 0)
  for (let n = 0; n < 10_000; n++) tenths[Math.floor(shareOf(`r:item:${n}`) * 10)]!++
  for (const count of tenths) expect(count).toBeGreaterThan(850)
  expect(shareOf('r:item:1')).toBe(shareOf('r:item:1'))
})
