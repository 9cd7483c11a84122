// The engine in imagined worlds: many of them must go well, the same one twice must be the same,
// and whatever a generator makes of commands and faults must go well, too.

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { runBatch } from '../../src/simulate/batch.ts'
import { runHistory } from '../../src/simulate/history.ts'
import { faultKinds, planOf, type Command, type Fault, type Plan } from '../../src/simulate/plan.ts'
import { shapeNames } from '../../src/simulate/shapes.ts'

const histories = Number(process.env['SIMULATED_HISTORIES'] ?? 200)
const first = Number(process.env['SIMULATED_SEED'] ?? 1)
const extent = { processes: 5, operations: 200, faults: 3 }

describe('in imagined worlds', () => {
  it(`${histories} histories of 5 processes, 200 operations and 3 faults violate nothing`, async () => {
    const seeds = Array.from({ length: histories }, (_, n) => first + n)
    const { wrong, figures } = await runBatch(seeds, extent)
    expect(wrong).toEqual([])
    // What never happens is not tested.
    const seen = [
      'published',
      'fenced',
      'waited',
      'stale',
      'hit',
      'rejected',
      'unleased',
      'deeds lost',
    ]
    for (const what of seen) expect([what, figures[what]! > 0]).toEqual([what, true])
    expect(figures['operations']).toBeGreaterThan(histories * extent.operations)
  }, 600_000)

  it('100 processes violate nothing', async () => {
    const plan = planOf(7, { processes: 100, operations: 400, faults: 8 })
    const { violations } = await runHistory(plan)
    expect(violations).toEqual([])
  }, 120_000)

  it('the same seed gives the same history, and another seed another one', async () => {
    const told = []
    for (const seed of [11, 12, 11, 12]) {
      told.push((await runHistory(planOf(seed, extent), { keepsTrace: true })).trace!.join('\n'))
    }
    expect(told[2]).toBe(told[0])
    expect(told[3]).toBe(told[1])
    expect(told[0]).not.toBe(told[1])
  }, 60_000)
})

const most = 6_000
const instant = fc.integer({ min: 0, max: most })
const command: fc.Arbitrary<Command> = fc.record(
  {
    at: instant,
    process: fc.nat(3),
    verb: fc.constantFrom(
      'lookup', 'lookup', 'lookup', 'get', 'getMany', 'peek', 'refresh', 'invalidate', 'invalidate', 'set', 'expire',
      'invalidateTags', 'expireTags', 'clear', 'expireAll',
    ), // prettier-ignore
    row: fc.nat(1),
    timeoutMs: fc.constantFrom(0, 30, 500),
    abortMs: fc.constantFrom(0, 3, 200),
    maxAgeMs: fc.constantFrom(0, 500),
  },
  { requiredKeys: ['at', 'process', 'verb', 'row'] },
)
const fault: fc.Arbitrary<Fault> = fc.record({
  at: instant,
  ms: fc.integer({ min: 1, max: most }),
  kind: fc.constantFrom(...faultKinds),
  process: fc.nat(3),
  row: fc.nat(1),
  n: fc.double({ min: 0, max: 0.999, noNaN: true }),
})
const plan: fc.Arbitrary<Plan> = fc.record({
  seed: fc.nat(),
  processes: fc.constant(4),
  shapes: fc.constantFrom(...shapeNames).map((name) => [name]),
  rowsPerShape: fc.constant(2),
  hasBus: fc.constantFrom(true, true, true, false),
  resends: fc.boolean(),
  queuesOffline: fc.boolean(),
  latencyMs: fc.constantFrom(0.1, 2, 20),
  skewMs: fc.constantFrom(0, 600_000),
  commands: fc.array(command, { minLength: 10, maxLength: 60, size: 'max' }),
  faults: fc.array(fault, { maxLength: 5, size: 'max' }),
})

describe('whatever happens', () => {
  it('nothing is violated', async () => {
    // A failure prints its seed and the smallest plan that fails.
    await fc.assert(
      fc.asyncProperty(plan, async (one) => {
        expect((await runHistory(one)).violations).toEqual([])
      }),
      { numRuns: histories },
    )
  }, 600_000)
})
