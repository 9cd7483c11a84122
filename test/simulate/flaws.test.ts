// A checker that finds nothing proves nothing: each of these protocols is broken by intent, and must
// be found in one of 1,000 histories. Where it takes some, one that is known to show it comes first;
// `SIMULATED_SEARCH=all` begins with the first and prints how many it took.

import { describe, expect, it } from 'vitest'
import { flaws } from '../../src/simulate/flaws.ts'
import { runHistory } from '../../src/simulate/history.ts'
import { planOf } from '../../src/simulate/plan.ts'

const extent = { processes: 5, operations: 200, faults: 3 }
const most = 1_000
const searchesAll = process.env['SIMULATED_SEARCH'] === 'all'

const known: Readonly<Record<string, number>> = {
  'a lease never ends': 29,
  'what is asked about tags is answered with nothing': 119,
  'beats come back that nobody has heard': 304,
  'a write lands however late': 12,
  'nobody learns that another server has taken over': 82,
  'what was found unreadable is given again': 28,
  'a write under way outlives what undoes it': 106,
  'a change that a failover lost is not repeated': 82,
  'a deaf process believes its memory': 349,
  'failures are remembered for ever': 28,
}

function* seeds(name: string): Generator<number> {
  const first = known[name]
  if (first !== undefined && !searchesAll) yield first
  for (let seed = 1; seed <= most; seed++) yield seed
}

describe.each(Object.entries(flaws))('where %s', (name, flaw) => {
  it('the simulator finds it', { timeout: 600_000 }, async () => {
    for (const seed of seeds(name)) {
      const { violations } = await runHistory(planOf(seed, extent), { flaw })
      const [first] = violations
      if (first === undefined) continue
      expect(first.invariant).toMatch(/^I\d$|^end$/)
      if (searchesAll) console.log(`${name}: history ${seed}, ${first.invariant} ${first.text}`)
      return
    }
    expect.fail(`${name}: not found in ${most} histories`)
  })
})
