// The store's clock decides, and it may be corrected. Found by a review of refreshes ahead: instants
// that were reckoned by the clock of before stayed, and a key was made no more until they had come.

import { expect, test } from 'vitest'
import { aheadRig, gaps } from '../support/ahead-rig.ts'
import { apartStore } from '../support/apart-store.ts'

const minute = 60_000
const hour = 60 * minute

test.each([-hour, 7 * minute, hour])(
  'a host whose clock is %i ms off makes its keys from the start, once per period',
  async (ms) => {
    const { clock, process, run, of, alerts } = aheadRig()
    const own = { ...clock, now: () => clock.now() + ms }
    // Its time is known only after keys were planned.
    process({ args: ['a'] }, { store: apartStore(clock, { beatMs: 5 }), clock: own })
    await run(2_000)
    expect(of('a')).toHaveLength(1)
    await run(10 * minute)
    expect(of('a').length).toBeGreaterThanOrEqual(10)
    expect(of('a').length).toBeLessThanOrEqual(12)
    expect(alerts).toEqual([])
  },
)

test.each([-hour, hour])('a store whose clock moves by %i ms stops no refresh', async (ms) => {
  const { clock, process, run, of } = aheadRig()
  let moved = 0
  const store = apartStore({ ...clock, now: () => clock.now() + moved })
  for (let n = 0; n < 3; n++) process({ args: ['a'] }, { store })
  await run(5 * minute)
  const at = of('a').length
  moved = ms
  await run(10 * minute)
  const after = of('a').slice(at)
  expect(after.length).toBeGreaterThanOrEqual(10)
  expect(after.length).toBeLessThanOrEqual(12)
  expect(Math.max(...gaps(of('a')))).toBeLessThan(1.5 * minute)
})
