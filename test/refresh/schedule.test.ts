import { describe, expect, it, test } from 'vitest'
import { dueAfter, everySchedule, shareOf } from '../../src/core/schedule.ts'

const everyMinute = everySchedule(60_000)

describe('a value is due anew', () => {
  it.each([
    { loaded: [0, 0], share: 0, due: 60_000 },
    { loaded: [1, 5], share: 0, due: 60_000 },
    // Shortly before a period begins: half of one must lie between two refreshes.
    { loaded: [29_999, 29_999], share: 0, due: 60_000 },
    { loaded: [30_000, 30_000], share: 0, due: 120_000 },
    { loaded: [59_999, 59_999], share: 0, due: 120_000 },
    // A period that began while it was loaded has been missed, and is not made up for.
    { loaded: [1_000, 59_999], share: 0, due: 60_000 },
    { loaded: [1_000, 60_000], share: 0, due: 120_000 },
    { loaded: [1_000, 190_000], share: 0, due: 240_000 },
    // By the key's own share.
    { loaded: [-1, -1], share: 0.5, due: 30_000 },
    { loaded: [0, 0], share: 0.5, due: 90_000 },
    { loaded: [30_000, 30_020], share: 0.5, due: 90_000 },
  ])('loaded $loaded, share $share: at $due', ({ loaded: [startedAt, storedAt], share, due }) => {
    expect(dueAfter(everyMinute, share, { startedAt: startedAt!, storedAt: storedAt! })).toBe(due)
  })

  test('within one and a half periods of its load, and never within half a one', () => {
    for (let n = 0; n < 1_000; n++) {
      const at = 1_700_000_000_000 + n * 137.3
      const gap = dueAfter(everyMinute, shareOf(`k${n}`), { startedAt: at, storedAt: at }) - at
      expect(gap).toBeGreaterThanOrEqual(30_000)
      expect(gap).toBeLessThanOrEqual(90_000)
    }
  })
})

test('keys are spread evenly over a period, the same in every process', () => {
  const tenths = Array.from({ length: 10 }, () => 0)
  for (let n = 0; n < 10_000; n++) tenths[Math.floor(shareOf(`r:item:${n}`) * 10)]!++
  for (const count of tenths) expect(count).toBeGreaterThan(850)
  expect(shareOf('r:item:1')).toBe(shareOf('r:item:1'))
})
