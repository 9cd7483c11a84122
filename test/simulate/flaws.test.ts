// A checker that finds nothing proves nothing: each of these protocols is broken by intent, and must
// be found in one of 1,000 histories. Histories that are known to show one come first.

import { describe, expect, it } from 'vitest'
import { flaws } from '../../src/simulate/flaws.ts'
import { runHistory } from '../../src/simulate/history.ts'
import { planOf } from '../../src/simulate/plan.ts'

const extent = { processes: 5, operations: 200, faults: 3 }
const most = 1_000

describe.each(Object.entries(flaws))('where %s', (name, flaw) => {
  it('the simulator finds it', { timeout: 300_000 }, async () => {
    for (let seed = 1; seed <= most; seed++) {
      const { violations } = await runHistory(planOf(seed, extent), { flaw })
      if (violations.length === 0) continue
      expect(violations[0]!.invariant).toMatch(/^I\d$|^end$/)
      return
    }
    expect.fail(`${name}: not found in ${most} histories`)
  })
})
