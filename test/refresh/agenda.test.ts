import fc from 'fast-check'
import { expect, test } from 'vitest'
import { Agenda } from '../../src/refresh/agenda.ts'
import { manualClock } from '../../src/testing/index.ts'

test('everything is done at its time, in order, and what is crossed out is not', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.record({ at: fc.nat(50_000), crossed: fc.boolean() }), { maxLength: 200 }),
      async (items) => {
        const clock = manualClock(0)
        const agenda = new Agenda(clock, (run) => run())
        const done: [number, number][] = []
        const made = items.map(({ at }, n) => agenda.at(at, () => done.push([at, n])))
        items.forEach(({ crossed }, n) => crossed && agenda.cross(made[n]!))
        for (let now = 0; now < 51_000; now += 500) await clock.advance(500)
        const expected = items.filter(({ crossed }) => !crossed).map(({ at }) => at)
        expect(done.map(([at]) => at)).toEqual(expected.sort((a, b) => a - b)) // prettier-ignore
        agenda.close()
      },
    ),
    { numRuns: 50 },
  )
})

test('what is put off again and again takes no more room', async () => {
  const clock = manualClock(0)
  const agenda = new Agenda(clock, (run) => run())
  let runs = 0
  let item = agenda.at(86_400_000, () => runs++)
  const before = process.memoryUsage().heapUsed
  for (let n = 0; n < 300_000; n++) {
    agenda.cross(item)
    item = agenda.at(86_400_000 + n, () => runs++)
  }
  expect(process.memoryUsage().heapUsed - before).toBeLessThan(20_000_000)
  await clock.advance('2d')
  expect(runs).toBe(1)
})

test('nothing is done after it was closed', async () => {
  const clock = manualClock(0)
  const agenda = new Agenda(clock, (run) => run())
  let runs = 0
  agenda.at(10, () => {
    runs++
    agenda.close()
    agenda.at(20, () => runs++)
  })
  agenda.at(15, () => runs++)
  await clock.advance(100)
  expect(runs).toBe(1)
})
