// Found by a review of refreshes ahead: what is told of one process's keys reaches the others.

import { expect, it, test } from 'vitest'
import { aheadRig } from '../support/ahead-rig.ts'
import { watched } from '../support/watched.ts'

it.each([true, false])(
  'who waits for a refresh that fails elsewhere is told at once (precompute: %s)',
  async (precompute) => {
    const { process, run, source } = aheadRig()
    const { item: worker } = process({ args: ['a'] })
    const { item } = process({ args: precompute ? [] : ['a'] }, { precompute })
    await run(2_000)
    source.fails = new Error('down')
    await worker.invalidate('a')
    await run(40)
    const got = watched(item.get('a'))
    await run(500)
    // One that takes part may have been the one that tried.
    expect(String(got.error)).toMatch(/down|failed/)
    expect(got.state).toBe('rejected')
    const next = watched(item.get('a'))
    await run(1)
    expect(next.state).toBe('rejected')
    source.fails = undefined
    await run(20_000)
    expect((await item.lookup('a')).outcome).toBe('hit')
  },
)

test.each([{}, { version: 'v'.repeat(50) }])(
  'a long argument of a definition with a long name is made when it is asked for (%j)',
  async (more) => {
    const { process, run } = aheadRig()
    const args = ['x'.repeat(600)]
    const { item } = process({ args }, {}, { name: 'n:'.repeat(64), ...more })
    const got = watched(item.get('y'.repeat(600)))
    await run(1_000)
    expect(got.state).toBe('resolved')
    // And what others tell of it is heard.
    await item.invalidate(args[0]!)
    await run(1_000)
    expect((await item.peek(args[0]!)).state).toBe('fresh')
  },
)
