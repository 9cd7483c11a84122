import { describe, expect, it } from 'vitest'
import { createCache } from '../../src/index.ts'
import { manualClock } from '../../src/testing/index.ts'
import { controlled, world } from '../support/two-processes.ts'

describe('one load per key', () => {
  it('joins callers in one process', async () => {
    const clock = manualClock()
    const cache = createCache({ namespace: 'test', ttl: '60s', clock })
    const loader = controlled<string>()
    const item = cache.define({ name: 'item', load: (_id: string) => loader.load() })
    const callers = Array.from({ length: 100 }, () => item.get('a'))
    await clock.advance(0)
    loader.end('value')
    expect(new Set(await Promise.all(callers))).toEqual(new Set(['value']))
    expect(loader.runs).toBe(1)
    expect(await item.get('a')).toBe('value')
    expect(loader.runs).toBe(1)
  })

  it('joins callers in several processes', async () => {
    const { clock, process } = world()
    const loader = controlled<{ n: number }>()
    const caches = await Promise.all([process(), process(), process(), process()])
    const items = caches.map((cache) =>
      cache.define({ name: 'item', load: (_id: number) => loader.load() }),
    )
    const callers = items.flatMap((item) => Array.from({ length: 25 }, () => item.get(7)))
    await clock.advance(50)
    expect(loader.runs).toBe(1)
    loader.end({ n: 1 })
    await clock.advance(0)
    expect(await Promise.all(callers)).toEqual(Array.from({ length: 100 }, () => ({ n: 1 })))
    expect(loader.runs).toBe(1)
    for (const item of items) expect(await item.get(7)).toEqual({ n: 1 })
    await clock.advance(0)
    expect(loader.runs).toBe(1)
  })

  it('T001 does not remember a rejection, even for a call made in the catch of the first', async () => {
    const cache = createCache({ namespace: 'test', ttl: '60s' })
    let runs = 0
    const item = cache.define({
      name: 'item',
      load: async (_id: string) => {
        if (++runs === 1) throw new Error('first')
        return 'value'
      },
    })
    expect(await item.get('a').catch(() => item.get('a'))).toBe('value')
    expect(runs).toBe(2)
  })

  it.each([1, 4])(
    'T009 T010 rejects every caller that joined a failing load, in %i processes',
    async (n) => {
      const { clock, process } = world()
      const loader = controlled<string>()
      const caches = await Promise.all(Array.from({ length: n }, () => process()))
      const error = Object.assign(new Error('no'), { code: 'E_NO' })
      const callers = caches.flatMap((cache) => {
        const item = cache.define({ name: 'item', load: (_id: string) => loader.load() })
        return Array.from({ length: 10 }, () => item.get('a'))
      })
      const settled = Promise.allSettled(callers)
      await clock.advance(20)
      loader.fail(error)
      await clock.advance(20)
      const results = await settled
      expect(loader.runs).toBe(1)
      expect(results.filter((result) => result.status === 'rejected')).toHaveLength(n * 10)
      const reasons = results.map((result) => (result as PromiseRejectedResult).reason)
      expect(reasons.filter((reason) => reason === error)).toHaveLength(10)
      for (const reason of reasons) {
        if (reason !== error) {
          expect(reason).toMatchObject({
            code: 'LOAD_FAILED_ELSEWHERE',
            remote: { name: 'Error', code: 'E_NO' },
          })
        }
      }
    },
  )
})
