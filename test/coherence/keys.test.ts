// Hostile and unlucky keys, end to end: each is a plain key, in memory and in the store.

import { describe, expect, it } from 'vitest'
import { race } from '../support/races.ts'

const pairs: readonly (readonly [string, string])[] = [
  ['/route1', '/route-1'],
  ['test', 'test_time'],
  ['k:v', 'k'],
  ['k}:l', 'k'],
  ['{k}', 'k'],
  ['k*', 'kk'],
  ['a[1]', 'a1'],
  ['', ' '],
  ['\u0000', ''],
  ['%7D', '}'],
  ['~', ''],
  ['#1', '1'],
  ["'a", 'a'],
  ['\ud800', '\udfff'],
  ['e\u0301', '\u00e9'],
  ['x'.repeat(600), `${'x'.repeat(600)}y`],
]

const odd = ['__proto__', 'constructor', 'toString', 'hasOwnProperty', 'prototype', 'valueOf', '\n']

describe('keys', () => {
  it.each(odd)('T126 %j is a plain key in every tier', async (key) => {
    const { clock, here, there } = await race()
    expect(await here.peek(key)).toEqual({ state: 'missing' })
    expect(await here.getOrLoad(key, () => ({ of: key }))).toEqual({ of: key })
    expect(await there.getOrLoad(key, () => 'not asked')).toEqual({ of: key })
    const item = here.define({ name: key === '\n' ? 'n' : key, load: (arg: string) => [arg] })
    expect(await item.getMany([key, 'other', key])).toEqual([[key], ['other'], [key]])
    await there.invalidate(key)
    await clock.advance(1)
    expect(await here.peek(key)).toEqual({ state: 'missing' })
    expect(({} as { of?: string }).of).toBeUndefined()
  })

  it.each(pairs)(
    'T127 T129 T133 %j and %j are two entries, and go one by one',
    async (one, two) => {
      const { clock, here, there } = await race()
      const item = here.define({ name: 'item', load: (key: string) => `item ${key}` })
      const other = there.define({ name: 'item', load: (key: string) => `item ${key}` })
      for (const key of [one, two]) {
        expect(await here.getOrLoad(key, () => `one-off ${key}`)).toBe(`one-off ${key}`)
        expect(await item.get(key)).toBe(`item ${key}`)
      }
      await there.invalidate(one)
      await other.invalidate(one)
      await clock.advance(1)
      expect((await here.peek(one)).state).toBe('missing')
      expect((await item.peek(one)).state).toBe('missing')
      expect(await here.peek(two)).toMatchObject({ state: 'fresh', value: `one-off ${two}` })
      expect(await item.peek(two)).toMatchObject({ state: 'fresh', value: `item ${two}` })
    },
  )

  it('T127 parts of a tuple are not joined', async () => {
    const { here } = await race()
    const item = here.define({ name: 'item', load: (parts: [string, string]) => parts.join('+') })
    expect(await item.get(['1234', '56'])).toBe('1234+56')
    expect(await item.get(['12', '3456'])).toBe('12+3456')
    expect(await item.get(['12"', '"3456'])).toBe('12"+"3456')
  })

  it('T129 one-off keys cannot reach a resource, nor one resource another', async () => {
    const { here } = await race()
    const a = here.define({ name: 'a', load: (key: string) => `a ${key}` })
    const ab = here.define({ name: 'a:b', load: (key: string) => `a:b ${key}` })
    expect(await a.get('b:c')).toBe('a b:c')
    expect(await ab.get('c')).toBe('a:b c')
    expect(await here.getOrLoad(a.key('x'), () => 'one-off')).toBe('one-off')
    expect(await a.get('x')).toBe('a x')
  })
})
