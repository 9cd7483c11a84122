// Found by a review of refreshes ahead: what was planned anew left its old plan behind until that
// came due, so that a key of which much is told, and which is made once a day, filled the memory.

import { expect, test } from 'vitest'
import { Agenda } from '../../src/refresh/agenda.ts'
import { manualClock } from '../../src/testing/index.ts'

const now = Date.UTC(2026, 0, 1)

test('what is planned anew a million times for a later day takes no room', () => {
  const agenda = new Agenda(manualClock(), (run) => run())
  const others = Array.from({ length: 100 }, (_, n) => agenda.at(now + n, () => {}))
  let planned = agenda.at(now + 86_400_000, () => {})
  for (let n = 0; n < 1_000_000; n++) {
    agenda.cross(planned)
    planned = agenda.at(now + 86_400_000 - n, () => {})
  }
  expect(agenda.size).toBeLessThan(2_000 + others.length)
})

test('what is left of many that were crossed out is done in its order, once', async () => {
  const clock = manualClock()
  const agenda = new Agenda(clock, (run) => run())
  const done: number[] = []
  const items = Array.from({ length: 5_000 }, (_, n) => {
    const at = (n * 7_919) % 5_000
    return { at, item: agenda.at(now + at, () => done.push(at)) }
  })
  for (const { at, item } of items) if (at % 10 !== 0) agenda.cross(item)
  expect(agenda.size).toBeLessThan(2_000)
  await clock.advance(5_000)
  expect(done).toEqual(Array.from({ length: 500 }, (_, n) => n * 10))
  // They are done: nothing is left to cross out.
  for (const { item } of items) agenda.cross(item)
  expect(agenda.size).toBe(0)
})
