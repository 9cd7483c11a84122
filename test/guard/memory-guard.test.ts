// The guard of one process.

import { describe, expect, it } from 'vitest'
import { memoryGuard } from '../../src/guard/index.ts'
import { guardCases, ids, refusedOf, type TestGuard } from './guard-suite.ts'

const open = (options = {}) =>
  memoryGuard<unknown>({ capacity: 1_000, errorRate: 0.01, ...options }) as TestGuard

describe('a guard in memory', () => {
  guardCases(() => ({
    open: async ({ key } = {}) => open({ key }),
    kind: 'memory',
  }))

  it('refuses from the first add on', async () => {
    const guard = open()
    await guard.add('id-1')
    expect(await refusedOf(guard, ['id-1', 'id-2'])).toEqual(['id-2'])
    expect(guard.info()).toMatchObject({ state: 'ready', added: 1 })
  })

  it('refuses nothing while what fills it first is under way, whatever else is done', async () => {
    const guard = open()
    let go = (): void => {}
    const gate = new Promise<void>((resolve) => (go = resolve))
    const fed = guard.addMany(
      (async function* () {
        yield 'id-1'
        await gate
        yield 'id-2'
      })(),
    )
    await guard.add('id-3')
    await guard.rebuild(ids(1, 4))
    expect(await refusedOf(guard, ids(0, 9))).toEqual([])
    expect(guard.info().state).toBe('building')
    go()
    await fed
    expect(await refusedOf(guard, ids(1, 4))).toEqual([])
    expect((await refusedOf(guard, ids(4, 9))).length).toBeGreaterThan(3)
  })

  it('is not filled by what failed', async () => {
    const guard = open()
    const failing = (async function* () {
      yield 'id-1'
      throw new Error('no')
    })()
    await expect(guard.addMany(failing)).rejects.toThrow('no')
    expect(guard.info().state).toBe('unbuilt')
    expect(await refusedOf(guard, ids(0, 9))).toEqual([])
  })
})
