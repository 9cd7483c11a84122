// A schema holds what is read against the shape that this deploy knows: another one is a miss, never
// a crash in the middle of a page (T114).

import { describe, expect, it, vi } from 'vitest'
import type { CacheEvents, CacheOptions, Definition } from '../../src/index.ts'
import { world } from '../support/two-processes.ts'

interface Product {
  name: string
  cents: number
}

type Validate = (value: any) => unknown
type Schema = NonNullable<Definition<string, unknown>['schema']>
const schemaOf = (validate: Validate): Schema => ({
  '~standard': { version: 1, vendor: 'test', validate } as Schema['~standard'],
})
const issue = (message: string, ...path: unknown[]) => ({ issues: [{ message, path }] })

const isProduct = schemaOf((value) => {
  if (typeof value !== 'object' || value === null) return issue('expected an object')
  if (typeof value.cents !== 'number') return issue('expected a number', 'cents')
  return { value }
})

async function deploys(schema: Schema, options: Partial<CacheOptions> = {}) {
  const { process } = world()
  const [old, young] = [await process({ memory: false }), await process(options)]
  const unread: CacheEvents['unreadable'][] = []
  const failed: CacheEvents['callbackFailed'][] = []
  const unstorable: CacheEvents['unstorable'][] = []
  young.on('unreadable', (event) => unread.push(event))
  young.on('callbackFailed', (event) => failed.push(event))
  young.on('unstorable', (event) => unstorable.push(event))
  const load = vi.fn(async (name: string): Promise<any> => ({ name, cents: 5 }))
  return {
    old: old.define({ name: 'product', load: async (name: string): Promise<any> => ({ name }) }),
    young: young.define({ name: 'product', load, schema }),
    cache: young,
    load,
    unread,
    failed,
    unstorable,
  }
}

describe('what an older deploy has stored', () => {
  it('in another shape is loaded anew, told with its path, and replaced (T114)', async () => {
    const { old, young, load, unread, cache } = await deploys(isProduct)
    await old.get('mouse')
    const product = (await young.get('mouse')) as Product
    expect(product.cents.toFixed(2)).toBe('5.00')
    expect(unread).toEqual([
      {
        name: 'product',
        key: young.key('mouse'),
        why: 'schema',
        path: '$.cents: expected a number',
      },
    ])
    await cache.idle()
    expect((await old.get('mouse')) as Product).toEqual({ name: 'mouse', cents: 5 })
    await young.get('mouse')
    expect(load).toHaveBeenCalledTimes(1)
  })

  it('in the same shape is served as it is', async () => {
    const { old, young, load } = await deploys(isProduct)
    await old.set('mouse', { name: 'mouse', cents: 7, more: true })
    expect(await young.get('mouse')).toEqual({ name: 'mouse', cents: 7, more: true })
    expect(load).not.toHaveBeenCalled()
  })

  it('is held against an asynchronous schema as well', async () => {
    const { '~standard': standard } = isProduct
    const { old, young, load } = await deploys(schemaOf(async (value) => standard.validate(value)))
    await old.get('mouse')
    await old.set('dock', { name: 'dock', cents: 9 })
    expect(await young.get('mouse')).toEqual({ name: 'mouse', cents: 5 })
    expect(await young.get('dock')).toEqual({ name: 'dock', cents: 9 })
    expect(load).toHaveBeenCalledTimes(1)
    expect(await young.getMany(['mouse', 'dock'])).toHaveLength(2)
  })

  it('as "does not exist" has no shape, and is believed', async () => {
    const { old, young, load, unread } = await deploys(isProduct)
    await old.set('gone', null)
    expect(await young.get('gone')).toBeNull()
    expect(load).not.toHaveBeenCalled()
    expect(unread).toEqual([])
  })

  it('is a miss in peek, and nothing is loaded', async () => {
    const { old, young, load } = await deploys(isProduct)
    await old.get('mouse')
    expect(await young.peek('mouse')).toEqual({ state: 'missing' })
    expect(load).not.toHaveBeenCalled()
  })
})

describe('a schema that', () => {
  it('throws costs a load, and its error is told', async () => {
    const error = new Error('broken')
    const { old, young, failed } = await deploys(
      schemaOf(() => {
        throw error
      }),
    )
    await old.get('mouse')
    expect(await young.get('mouse')).toEqual({ name: 'mouse', cents: 5 })
    expect(failed[0]).toMatchObject({ name: 'product', callback: 'schema', error })
  })

  it.each<{ name: string; validate: Validate }>([
    { name: 'gives nothing', validate: () => undefined },
    { name: 'rejects', validate: () => Promise.reject(new Error('broken')) },
    { name: 'gives issues without a word', validate: () => ({ issues: [null] }) },
    { name: 'gives an object that is no result', validate: () => ({}) },
  ])('$name costs a load, no answer', async ({ validate }) => {
    const { old, young } = await deploys(schemaOf(validate))
    await old.get('mouse')
    expect(await young.get('mouse')).toEqual({ name: 'mouse', cents: 5 })
  })

  it.each<{ name: string; validate: Validate; path: string }>([
    {
      name: 'fills in what is missing',
      validate: (value) => ({ value: { cents: 1, ...value } }),
      path: '$.cents: the schema would change it',
    },
    {
      name: 'converts',
      validate: (value) => ({ value: { ...value, name: value.name.length } }),
      path: '$.name: the schema would change it',
    },
  ])('$name refuses the value: a hit is what the load gave', async ({ validate, path }) => {
    const { old, young, unread } = await deploys(schemaOf(validate))
    await old.get('mouse')
    await young.get('mouse')
    expect(unread[0]).toMatchObject({ why: 'schema', path })
  })

  it('gives a copy, without what it does not know, changes nothing', async () => {
    const strips = schemaOf((value) => ({ value: { name: value.name } }))
    const { old, young } = await deploys(strips)
    await old.set('mouse', { name: 'mouse', cents: 7, at: new Date(5) })
    expect(await young.get('mouse')).toEqual({ name: 'mouse', cents: 7, at: new Date(5) })
  })

  it('copies Maps, Sets, Dates and lists is content with them', async () => {
    const value = {
      at: new Date(5),
      map: new Map([['a', { b: 1 }]]),
      set: new Set([1, 2]),
      list: [1, [2]],
      nan: NaN,
      none: undefined,
    }
    const { old, young, load } = await deploys(schemaOf((v) => ({ value: structuredClone(v) })))
    await old.set('all', value)
    expect(await young.get('all')).toEqual(value)
    expect(load).not.toHaveBeenCalled()
  })
})

describe('a loaded value that does not conform', () => {
  it('is answered, not stored, and told with its path', async () => {
    const { young, load, unstorable } = await deploys(isProduct)
    load.mockImplementation(async (name) => ({ name, cents: 'five' }))
    expect(await young.get('mouse')).toEqual({ name: 'mouse', cents: 'five' })
    expect(unstorable[0]).toMatchObject({ name: 'product', path: '$.cents: expected a number' })
    await young.get('mouse')
    expect(load).toHaveBeenCalledTimes(2)
  })

  it('is refused by set, and what was there stays', async () => {
    const { young } = await deploys(isProduct)
    await young.set('mouse', { name: 'mouse', cents: 7 })
    await expect(young.set('mouse', { name: 'mouse' })).rejects.toMatchObject({
      code: 'UNSTORABLE',
      message: expect.stringContaining('$.cents: expected a number') as string,
    })
    expect(await young.get('mouse')).toEqual({ name: 'mouse', cents: 7 })
  })
})

it('a schema that is a function with properties is one, too', async () => {
  const schema = Object.assign(() => {}, isProduct)
  const { old, young, load } = await deploys(schema)
  await old.get('mouse')
  await young.get('mouse')
  expect(load).toHaveBeenCalledTimes(1)
})

it('names a path through Maps and lists', async () => {
  const list = schemaOf(() => issue('too dear', { key: 'items' }, 3, Symbol('s'), 'cents'))
  const { old, young, unread } = await deploys(list)
  await old.get('mouse')
  await young.get('mouse')
  expect(unread[0]!.path).toBe('$.items[3].Symbol(s).cents: too dear')
})
