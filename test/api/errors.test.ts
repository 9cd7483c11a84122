// What callers get when a loader throws: the original object in its own process, elsewhere what
// `errors` of the definition makes of it, or its name and code.

import { describe, expect, it } from 'vitest'
import { BreakwaterError, createCache, type Definition } from '../../src/index.ts'
import { manualClock } from '../../src/testing/index.ts'
import { world } from '../support/two-processes.ts'

class NotFound extends Error {
  override readonly name = 'NotFound'
  readonly status = 404
  readonly what: string
  constructor(what: string) {
    super(`no such ${what}`)
    this.what = what
  }
}

/** Two callers in each of three processes, one load that fails. The first process is the loader's. */
async function failing(
  error: unknown,
  more: Partial<Definition<string, string>> = {},
): Promise<{ mine: unknown[]; elsewhere: unknown[]; faults: unknown[]; loads: number }> {
  const { clock, process } = world()
  let loads = 0
  const faults: unknown[] = []
  const callers: Promise<unknown>[] = []
  for (let n = 0; n < 3; n++) {
    const cache = await process()
    cache.on('callbackFailed', (event) => faults.push(event))
    const item = cache.define<string, string>({
      name: 'item',
      load: () => {
        loads++
        return new Promise((_, reject) => clock.after(50, () => reject(error)))
      },
      ...more,
    })
    callers.push(item.get('a'), item.get('a'))
    await clock.advance(1)
  }
  const settled = Promise.allSettled(callers)
  await clock.advance(500)
  const reasons = (await settled).map((result) => {
    expect(result.status).toBe('rejected')
    return (result as PromiseRejectedResult).reason as unknown
  })
  return { mine: reasons.slice(0, 2), elsewhere: reasons.slice(2), faults, loads }
}

describe('an error of a loader', () => {
  it.each([
    { error: new TypeError('x'), remote: { name: 'TypeError' } },
    {
      error: Object.assign(new Error('x'), { code: 'E_X' }),
      remote: { name: 'Error', code: 'E_X' },
    },
    { error: Object.assign(new Error('x'), { code: 404 }), remote: { name: 'Error', code: '404' } },
    { error: new NotFound('product'), remote: { name: 'NotFound' } },
    { error: Object.freeze(new Error('frozen')), remote: { name: 'Error' } },
    { error: 'text', remote: { name: 'string' } },
    { error: undefined, remote: { name: 'undefined' } },
    { error: null, remote: { name: 'object' } },
    { error: 5, remote: { name: 'number' } },
    { error: { code: 'E_PLAIN' }, remote: { name: 'object', code: 'E_PLAIN' } },
    { error: Object.create(null) as unknown, remote: { name: 'object' } },
    { error: new BreakwaterError('OVERLOADED', 'of another cache'), remote: { name: 'BreakwaterError', code: 'OVERLOADED' } }, // prettier-ignore
  ])('is the same object here and has a name elsewhere: $remote', async ({ error, remote }) => {
    const { mine, elsewhere, faults, loads } = await failing(error)
    expect(loads).toBe(1)
    for (const reason of mine) expect(reason).toBe(error)
    expect(elsewhere).toHaveLength(4)
    for (const reason of elsewhere) {
      expect(reason).toBeInstanceOf(BreakwaterError)
      expect(reason).toMatchObject({ code: 'LOAD_FAILED_ELSEWHERE', remote })
      expect((reason as BreakwaterError).key).toContain('item')
    }
    expect(faults).toEqual([])
  })

  it('says nothing of its message elsewhere, which may hold what is not for everyone', async () => {
    const { elsewhere } = await failing(new Error('password=hunter2'))
    expect(JSON.stringify(elsewhere.map(String))).not.toContain('hunter2')
  })

  it('is a 404 on every pod where the definition says how it travels', async () => {
    const { mine, elsewhere, loads } = await failing(new NotFound('product'), {
      errors: {
        toWire: (error) => (error instanceof NotFound ? { what: error.what } : undefined),
        fromWire: (json) => new NotFound((json as { what: string }).what),
      },
    })
    expect(loads).toBe(1)
    for (const reason of [...mine, ...elsewhere]) {
      expect(reason).toBeInstanceOf(NotFound)
      expect(reason).toMatchObject({ status: 404, message: 'no such product' })
    }
  })

  it('keeps its name and code where toWire has nothing to say', async () => {
    const { elsewhere, faults } = await failing(new TypeError('x'), {
      errors: { toWire: () => undefined, fromWire: () => new Error('never') },
    })
    for (const reason of elsewhere) {
      expect(reason).toMatchObject({ code: 'LOAD_FAILED_ELSEWHERE', remote: { name: 'TypeError' } })
    }
    expect(faults).toEqual([])
  })

  const thrower = () => {
    throw new Error('a fault of the callback')
  }
  it.each([
    { what: 'toWire throws', errors: { toWire: thrower, fromWire: () => new Error('x') } },
    { what: 'toWire gives what JSON cannot hold', errors: { toWire: () => 5n, fromWire: thrower } },
    { what: 'toWire gives too much', errors: { toWire: () => 'x'.repeat(1e5), fromWire: thrower } },
    { what: 'fromWire throws', errors: { toWire: () => 1, fromWire: thrower } },
  ])('travels by name when $what', async ({ errors }) => {
    const error = new NotFound('product')
    const { mine, elsewhere, faults, loads } = await failing(error, { errors })
    expect(loads).toBe(1)
    for (const reason of mine) expect(reason).toBe(error)
    for (const reason of elsewhere) {
      expect(reason).toMatchObject({ code: 'LOAD_FAILED_ELSEWHERE', remote: { name: 'NotFound' } })
    }
    expect(faults.length).toBeGreaterThan(0)
    for (const fault of faults) expect(fault).toMatchObject({ name: 'item', callback: 'errors' })
  })

  it('thrown synchronously is a rejection like any other', async () => {
    const error = new Error('at once')
    const cache = createCache({ namespace: 'test', ttl: '60s', clock: manualClock() })
    const item = cache.define<string, string>({
      name: 'item',
      load: () => {
        throw error
      },
    })
    const callers = [item.get('a'), item.get('a'), item.refresh('a'), item.lookup('a')]
    for (const result of await Promise.allSettled(callers)) {
      expect(result).toEqual({ status: 'rejected', reason: error })
    }
    expect(await item.getManySettled(['a', 'b'])).toEqual([
      { status: 'rejected', reason: error },
      { status: 'rejected', reason: error },
    ])
    await expect(item.getMany(['a', 'b'])).rejects.toBe(error)
  })
})
