// The list that a caller passes is the caller's own: what becomes of it after the call changes nothing.

import { describe, expect, test } from 'vitest'
import { world } from '../support/two-processes.ts'

const changes: [string, (ids: number[]) => void][] = [
  ['turned round', (ids) => ids.reverse()],
  ['emptied', (ids) => (ids.length = 0)],
  ['shifted', (ids) => ids.shift()],
  ['filled for the next page', (ids) => ids.splice(0, 3, 7, 8, 9)],
]

describe.each([true, false])('with loadMany: %s, a list that is', (isMany) => {
  async function rows() {
    const { process } = world()
    const cache = await process()
    const resource = cache.define({
      name: 'n',
      load: async (id: number): Promise<string> => `row ${id}`,
      ...(isMany
        ? { loadMany: async (ids: readonly number[]) => ids.map((id) => `row ${id}`) }
        : {}),
      tags: (_, id) => [`tag ${id}`],
    })
    return { cache, resource }
  }

  test.each(changes)('%s after the call loads each key’s own row', async (_, change) => {
    const { cache, resource } = await rows()
    const ids = [1, 2, 3]
    const asked = resource.getMany(ids)
    change(ids)
    expect(await asked).toEqual(['row 1', 'row 2', 'row 3'])
    await cache.idle()
    expect(await resource.get(1)).toBe('row 1')
    await cache.invalidateTags('tag 1')
    expect((await resource.peek(1)).state).toBe('missing')
    expect((await resource.peek(2)).state).toBe('fresh')
  })

  test.each(changes)('%s after the call settles each of its places', async (_, change) => {
    const { resource } = await rows()
    const ids = [1, 2, 3]
    const asked = resource.getManySettled(ids)
    change(ids)
    const values = ['row 1', 'row 2', 'row 3']
    expect(await asked).toEqual(values.map((value) => ({ status: 'fulfilled', value })))
  })
})

test('a hole in the list is undefined, in every verb alike', async () => {
  const { process } = world()
  const cache = await process()
  const resource = cache.define({
    name: 'n',
    load: async (id: number | undefined): Promise<string> => `row ${id}`,
  })
  const ids: (number | undefined)[] = [1]
  ids[2] = 3
  const values = ['row 1', 'row undefined', 'row 3']
  expect(await resource.getMany(ids)).toEqual(values)
  const settled = values.map((value) => ({ status: 'fulfilled', value }))
  expect(await resource.getManySettled(ids)).toEqual(settled)
  expect(await resource.get(undefined)).toBe('row undefined')
})

test('a rule for keys that throws the second time is its own place’s failure', async () => {
  const { process } = world()
  const cache = await process()
  let asked = 0
  const resource = cache.define({
    name: 'n',
    load: async (arg: { id: number }) => arg.id,
    key: ({ id }) => {
      if (id === 2 && ++asked > 1) throw new Error('gone')
      return id
    },
  })
  const settled = await resource.getManySettled([{ id: 1 }, { id: 2 }, { id: 3 }])
  expect(settled.map(({ status }) => status)).toContain('fulfilled')
})
