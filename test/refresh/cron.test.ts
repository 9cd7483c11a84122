// Periods by a cron expression: time zones, summer time, and expressions that are refused.

import { describe, expect, it, test } from 'vitest'
import { createCache } from '../../src/index.ts'
import { cronSchedule } from '../../src/refresh/cron.ts'
import { manualClock } from '../../src/testing/index.ts'

const at = (text: string): number => Date.parse(text)
const read = (expression: string, timezone?: string) => cronSchedule(expression, timezone, 'cron')

describe('a period', () => {
  it.each([
    [
      '*/9 * * * *',
      'UTC',
      '2026-03-01T00:08:59.999Z',
      '2026-03-01T00:00:00Z',
      '2026-03-01T00:09:00Z',
    ],
    [
      '*/9 * * * *',
      'UTC',
      '2026-03-01T00:09:00.000Z',
      '2026-03-01T00:09:00Z',
      '2026-03-01T00:18:00Z',
    ],
    [
      '*/9 * * * *',
      'UTC',
      '2026-03-01T00:09:00.500Z',
      '2026-03-01T00:09:00Z',
      '2026-03-01T00:18:00Z',
    ],
    // Six minutes to the full hour.
    ['*/9 * * * *', 'UTC', '2026-03-01T00:55:00Z', '2026-03-01T00:54:00Z', '2026-03-01T01:00:00Z'],
    [
      '0 3 * * *',
      'Europe/Berlin',
      '2026-01-10T12:00:00Z',
      '2026-01-10T02:00:00Z',
      '2026-01-11T02:00:00Z',
    ],
    [
      '0 3 * * *',
      'Europe/Berlin',
      '2026-07-10T12:00:00Z',
      '2026-07-10T01:00:00Z',
      '2026-07-11T01:00:00Z',
    ],
    // 02:30 is skipped in Berlin on 29 March, and made up for an hour later on the clock.
    [
      '30 2 * * *',
      'Europe/Berlin',
      '2026-03-29T12:00:00Z',
      '2026-03-29T01:00:00Z',
      '2026-03-30T00:30:00Z',
    ],
    // It comes twice on 25 October, and counts once.
    [
      '30 2 * * *',
      'Europe/Berlin',
      '2026-10-25T02:00:00Z',
      '2026-10-25T00:30:00Z',
      '2026-10-26T01:30:00Z',
    ],
    [
      '0 9-17 * * 1-5',
      'America/New_York',
      '2026-07-11T12:00:00Z',
      '2026-07-10T21:00:00Z',
      '2026-07-13T13:00:00Z',
    ],
    [
      '*/10 * * * * *',
      'UTC',
      '2026-03-01T00:00:09Z',
      '2026-03-01T00:00:00Z',
      '2026-03-01T00:00:10Z',
    ],
  ])('of %s in %s at %s began at %s and ends at %s', (expression, zone, now, begin, end) => {
    // prettier-ignore
    const period = read(expression, zone).periodAt(at(now))
    expect([period.begin, period.end]).toEqual([at(begin), at(end)])
  })

  it('holds whatever is asked for, in any order, and follows the one before', () => {
    const schedule = read('*/7 * * * *', 'Australia/Lord_Howe')
    const from = at('2026-04-04T12:00:00Z')
    let { begin, end } = schedule.periodAt(from)
    for (let n = 0; n < 400; n++) {
      const next = schedule.periodAt(end)
      expect(next.begin).toBe(end)
      expect(next.end).toBeGreaterThan(next.begin)
      expect(schedule.periodAt(end - 1)).toEqual({ begin, end })
      ;({ begin, end } = next)
    }
  })
})

describe('an entry must outlive two periods', () => {
  it.each([
    ['*/9 * * * *', 18 * 60_000],
    ['0 * * * *', 2 * 3_600_000],
    // A weekend, and the hour after it.
    ['0 9-17 * * 1-5', (64 + 1) * 3_600_000],
    // The same in every time zone, whether its days have 23 or 25 hours or not.
    ['0 3 * * *', 48 * 3_600_000],
  ])('%s: %i ms', (expression, ms) => {
    for (const zone of ['UTC', 'Europe/Berlin', 'Australia/Lord_Howe']) {
      expect(read(expression, zone).twoPeriodsMs).toBe(ms)
    }
  })
})

describe('is refused', () => {
  it.each([
    [
      '61 * * * *',
      undefined,
      "cron: expected a cron expression such as '*/9 * * * *', got '61 * * * *'",
    ],
    ['every minute', undefined, 'cron: expected a cron expression'],
    ['0 3 * * *', 'Europe/Atlantis', 'in Europe/Atlantis'],
    ['0 0 30 2 *', undefined, "cron: '0 0 30 2 *' never comes again"],
  ])('%s in %s: %s', (expression, zone, says) => {
    // prettier-ignore
    expect(() => read(expression, zone)).toThrow(expect.objectContaining({ code: 'INVALID_OPTION' }))
    expect(() => read(expression, zone)).toThrow(says)
  })
})

test('values are made by it, by the store’s time', async () => {
  const clock = manualClock(at('2026-03-01T00:00:30Z'))
  const cache = createCache({ namespace: 'test', ttl: '1h', clock })
  const made: string[] = []
  cache.define({
    name: 'item',
    load: () => {
      made.push(new Date(clock.now()).toISOString().slice(11, 19))
      return 1
    },
    precompute: { cron: '*/10 * * * *', timezone: 'UTC', onMiss: 'load' },
  })
  for (let n = 0; n < 32; n++) await clock.advance('1m')
  // At once, and then within a tenth of the period, at most a minute, of each run.
  expect(made.map((time) => time.slice(0, 5))).toEqual(['00:00', '00:10', '00:20', '00:30'])
})
