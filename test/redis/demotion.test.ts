// How often the master is looked for while writes meet a replica. In virtual time.

import { expect, it } from 'vitest'
import { Demotion } from '../../src/redis/demotion.ts'
import { manualClock } from '../../src/testing/index.ts'

function begin(random = 0) {
  const clock = { ...manualClock(0), random: () => random }
  const at: number[] = []
  const demotion = new Demotion(clock, () => at.push(clock.now() / 1_000))
  /** A write each 100 ms that is refused. */
  const refusing = async (seconds: number) => {
    for (let n = 0; n < seconds * 10; n += 1) {
      demotion.refused()
      await clock.advance(100)
    }
  }
  return { clock, demotion, at, refusing }
}

it('T094 at once, 5 s later, and then ever more rarely', async () => {
  const { at, refusing } = begin()
  await refusing(200)
  expect(at).toEqual([0, 5, 15, 35, 75, 135, 195])
})

it('the pauses are up to a quarter longer, by chance', async () => {
  const { at, refusing } = begin(0.96)
  await refusing(25)
  expect(at).toEqual([0, 6.2, 18.6])
})

it('a write that was taken resets it, and never makes it more often than every 5 s', async () => {
  const { at, demotion, refusing } = begin()
  await refusing(40)
  expect(at).toEqual([0, 5, 15, 35])
  demotion.accepted()
  await refusing(12)
  expect(at.slice(4)).toEqual([40, 50])
  demotion.accepted()
  await refusing(4)
  demotion.accepted()
  expect(at.slice(6)).toEqual([55])
})
