// What a batch is asked for: any argument that has a key, in any number, under the key of its own.

import { describe, expect, test, vi } from 'vitest'
import type { Resource } from '../../src/index.ts'
import { world } from '../support/two-processes.ts'
import { alone } from '../support/watched.ts'

/** Loads each argument as what it is, and records what it was given. */
async function echo<Arg>(key?: (arg: Arg) => unknown) {
  const { process, clock } = world()
  const batches: Arg[][] = []
  const define = (cache: Awaited<ReturnType<typeof process>>) =>
    cache.define({
      name: 'echo',
      load: async (arg: Arg) => ({ single: arg }) as { single?: Arg; of?: Arg },
      loadMany: async (args) => {
        batches.push([...args])
        return args.map((of) => ({ of }))
      },
      key,
    }) as Resource<Arg, { single?: Arg; of?: Arg }>
  const cache = await process()
  return { clock, cache, process, define, resource: define(cache), batches }
}

describe('arguments', () => {
  test('that names of objects’ own properties have are keys like any other (T126)', async () => {
    const names = ['__proto__', 'constructor', 'toString', 'hasOwnProperty', '', '0', 'length']
    const { resource, process, define } = await echo<string>()
    const all = names.map((of) => ({ of }))
    expect(await resource.getMany(names)).toEqual(all)
    // From memory, and by another process from the store.
    expect(await resource.getMany(names.toReversed())).toEqual(all.toReversed())
    expect(await define(await process()).getMany(names)).toEqual(all)
  })

  test('that look alike as text have entries of their own (T127, T130)', async () => {
    const alike = [1, '1', 1n, '#1', "'1", true, 'true', null, 'null', [1, 11], [11, 1], ['1', 11]]
    const { resource, batches } = await echo<unknown>()
    expect(await resource.getMany(alike)).toEqual(alike.map((of) => ({ of })))
    expect(batches[0]).toEqual(alike)
    for (const arg of alike) expect(await resource.get(arg)).toEqual({ of: arg })
  })

  test('of one key are loaded once, whatever objects they are', async () => {
    const { resource, batches } = await echo<{ id: number; lang?: string | undefined }>()
    const args = [
      { id: 1, lang: 'en' },
      { lang: 'en', id: 1 },
      { id: 1, lang: undefined },
      { id: 1 },
    ]
    const got = await resource.getMany(args)
    expect(got.map(({ of }) => of?.lang)).toEqual(['en', 'en', undefined, undefined])
    expect(batches).toEqual([[args[0], args[2]]])
  })

  test('of one key, by the definition’s own rule, get what the first of them gets', async () => {
    const { resource, batches } = await echo<{ id: number; note: string }>(({ id }) => id)
    const args = [
      { id: 1, note: 'a' },
      { id: 1, note: 'b' },
      { id: 2, note: 'c' },
    ]
    expect((await resource.getMany(args)).map(({ of }) => of?.note)).toEqual(['a', 'a', 'c'])
    expect(batches).toEqual([[args[0], args[2]]])
  })

  test('ten thousand at once, each its own value, in one load', async () => {
    const { cache } = alone()
    const batches: number[] = []
    const resource = cache.define({
      name: 'n',
      load: (n: number) => n,
      loadMany: (ids) => (batches.push(ids.length), [...ids]),
    })
    const ids = Array.from({ length: 10_000 }, (_, n) => n)
    expect(await resource.getMany(ids)).toEqual(ids)
    expect(await resource.getMany(ids.toReversed())).toEqual(ids.toReversed())
    expect(batches).toEqual([10_000])
    expect(cache.health().loads).toEqual({ running: 0, queued: 0 })
  }, 60_000)

  test('a rule for keys that throws rejects the call, or its own places', async () => {
    const { resource, batches } = await echo<{ id?: number }>(({ id }) => {
      if (id === undefined) throw new TypeError('no id')
      return id
    })
    await expect(resource.getMany([{ id: 1 }, {}])).rejects.toThrow('no id')
    expect(batches).toEqual([])
    expect(await resource.getManySettled([{ id: 1 }, {}, { id: 2 }, {}])).toMatchObject([
      { value: { of: { id: 1 } } },
      { reason: { message: 'no id' } },
      { value: { of: { id: 2 } } },
      { reason: { message: 'no id' } },
    ])
    expect(batches).toEqual([[{ id: 1 }, { id: 2 }]])
  })

  test.each([
    ['a Set', new Set([1])],
    ['an iterator', [1].values()],
    ['an array-like', { length: 1, 0: 1 }],
    ['nothing', undefined],
  ])('%s is no list of arguments', async (_, args) => {
    const { resource } = await echo<number>()
    await expect(resource.getMany(args as never)).rejects.toMatchObject({ code: 'INVALID_KEY' })
    await expect(resource.getManySettled(args as never)).rejects.toMatchObject({
      code: 'INVALID_KEY',
    })
  })

  test('an option of the call that is none is told at every place, and nothing is loaded', async () => {
    const { resource, batches } = await echo<number>()
    const call = { timeout: -1 } as never
    await expect(resource.getMany([1], call)).rejects.toMatchObject({ code: 'INVALID_OPTION' })
    expect(await resource.getManySettled([1, 2], call)).toMatchObject([
      { reason: { code: 'INVALID_OPTION' } },
      { reason: { code: 'INVALID_OPTION' } },
    ])
    expect(batches).toEqual([])
  })

  test('are told to the rule for tags and to the fallback as they are, each its own', async () => {
    const { process } = world()
    const cache = await process()
    const tags = vi.fn((_: string, n: number) => [`tag ${n}`])
    const resource = cache.define({
      name: 'n',
      load: async (n: number): Promise<string> => `single ${n}`,
      loadMany: async (ids) => ids.map((n) => (n === 2 ? new Error('no 2') : `row ${n}`)),
      tags,
      fallback: (error, n) => `${n} without: ${(error as Error).message}`,
    })
    expect(await resource.getMany([1, 2, 3])).toEqual(['row 1', '2 without: no 2', 'row 3'])
    expect(tags.mock.calls).toEqual([
      ['row 1', 1],
      ['row 3', 3],
    ])
    await cache.invalidateTags('tag 3')
    expect((await resource.peek(1)).state).toBe('fresh')
    expect((await resource.peek(3)).state).toBe('missing')
  })
})
