// Schemas of the libraries that people use: what they say of a value is what the cache does with it.

import { type } from 'arktype'
import * as v from 'valibot'
import { describe, expect, it, vi } from 'vitest'
import { z } from 'zod'
import type { Definition } from '../../src/index.ts'
import { world } from '../support/two-processes.ts'

type Schema = NonNullable<Definition<string, unknown>['schema']>

const when = new Date(5)
const good = { id: 'a', cents: 5, at: when, tags: ['x'], more: { deep: null } }
const bad = { ...good, cents: '5' }

const schemas: Record<string, Schema> = {
  zod: z.object({ id: z.string(), cents: z.number(), at: z.date(), tags: z.array(z.string()) }),
  'zod, loose': z.looseObject({ cents: z.number() }),
  'zod, asynchronous': z.object({ cents: z.number().refine(async (n) => n > 0) }),
  valibot: v.object({ id: v.string(), cents: v.number(), at: v.date() }),
  'valibot, asynchronous': v.objectAsync({
    cents: v.pipeAsync(
      v.number(),
      v.checkAsync(async (n) => n > 0),
    ),
  }),
  arktype: type({ id: 'string', cents: 'number', at: 'Date', tags: 'string[]' }),
}

async function fleet(schema: Schema) {
  const { process } = world()
  const [old, young] = [await process({ memory: false }), await process({ memory: false })]
  const load = vi.fn(async (_: string): Promise<unknown> => good)
  const why: unknown[] = []
  young.on('unreadable', (event) => why.push(event.why, event.path))
  return {
    old: old.define({ name: 'item', load: async (_: string): Promise<unknown> => bad }),
    young: young.define({ name: 'item', load, schema }),
    load,
    why,
  }
}

describe.each(Object.keys(schemas))('%s', (name) => {
  it('lets through what conforms, as it is', async () => {
    const { old, young, load } = await fleet(schemas[name]!)
    await old.set('a', good)
    expect(await young.get('a')).toEqual(good)
    expect(load).not.toHaveBeenCalled()
  })

  it('has what does not conform loaded anew, and says where it is wrong', async () => {
    const { old, young, why } = await fleet(schemas[name]!)
    await old.get('a')
    expect(await young.get('a')).toEqual(good)
    expect(why[0]).toBe('schema')
    expect(why[1]).toContain('$.cents')
  })

  it('refuses a set that does not conform', async () => {
    const { young } = await fleet(schemas[name]!)
    await expect(young.set('a', bad)).rejects.toMatchObject({ code: 'UNSTORABLE' })
  })
})

it.each<{ name: string; schema: Schema }>([
  {
    name: 'zod with a default',
    schema: z.looseObject({ cents: z.number(), stock: z.number().default(0) }),
  },
  { name: 'zod that converts', schema: z.looseObject({ id: z.string().transform(Number) }) },
  { name: 'valibot with a default', schema: v.looseObject({ stock: v.optional(v.number(), 0) }) },
  { name: 'arktype with a default', schema: type({ stock: 'number = 0' }) },
])('$name refuses what it would change', async ({ schema }) => {
  const { old, young, why } = await fleet(schema)
  await old.set('a', good)
  await young.get('a')
  expect(why[1]).toMatch(/the schema would change it/)
})
