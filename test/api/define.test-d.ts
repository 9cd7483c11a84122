// Checked by `npm run types`, never run: what a user writes in strict TypeScript, and what the
// compiler makes of it (T165).

import { createCache } from '../../src/index.ts'
import type { Keyed, LoadContext, LoadReason, Lookup, Peek, Resource } from '../../src/index.ts'
import { is, type Same } from '../support/types.ts'

interface Product {
  id: number
  name: string
}
interface Feed {
  items: readonly string[]
}
declare const db: {
  trending(category: string, how: { signal: AbortSignal }): Promise<Product[]>
  find(id: number): Promise<Product | null>
}

const cache = createCache({ namespace: 'shop', ttl: '60s' })

// Arg and Value are inferred from the loader.
const trending = cache.define({
  name: 'trending',
  load: async (category: string, ctx) => db.trending(category, { signal: ctx.signal }),
  ttl: '10m',
})
is<Same<typeof trending, Resource<string, Product[]>>>(true)
is<Same<Awaited<ReturnType<typeof trending.get>>, Product[]>>(true)
is<Same<Awaited<ReturnType<typeof trending.getMany>>, Product[][]>>(true)
is<Same<Awaited<ReturnType<typeof trending.refresh>>, Product[]>>(true)
is<Same<Awaited<ReturnType<typeof trending.lookup>>, Lookup<Product[]>>>(true)
is<Same<Awaited<ReturnType<typeof trending.peek>>, Peek<Product[]>>>(true)
is<Same<Awaited<ReturnType<typeof trending.getManySettled>>, PromiseSettledResult<Product[]>[]>>(
  true,
)
// @ts-expect-error the argument is text
void trending.get(5)
// @ts-expect-error there is an argument
void trending.get()
void trending.set('keyboards', [{ id: 1, name: 'a' }])
// @ts-expect-error set takes what the loader gives
void trending.set('keyboards', [{ id: 'one', name: 'a' }])

// A loader may be synchronous, and a method.
const plain = cache.define({ name: 'plain', load: (n: number) => n * 2 })
is<Same<typeof plain, Resource<number, number>>>(true)
const method = cache.define({
  name: 'method',
  load(n: number) {
    return Promise.resolve(`${n}`)
  },
})
is<Same<typeof method, Resource<number, string>>>(true)

// No parameter, or one that is not used: a singleton.
const settings = cache.define({ name: 'settings', load: async () => ({ theme: 'dark' }) })
is<Same<typeof settings, Resource<void, { theme: string }>>>(true)
void settings.get()
void settings.get(undefined, { timeout: '1s' })
void settings.lookup()
void settings.invalidate()
// @ts-expect-error it takes no argument
void settings.get('a')
is<Same<Keyed<unknown>, void>>(true)
is<Same<Keyed<any>, any>>(true)

// A parameter that is `any` stays one.
const anything = cache.define({ name: 'anything', load: async (arg: any) => String(arg) })
void anything.get({ a: 1 })
void anything.get(5)

// `null` and `undefined` stay in the value's type, and nothing else comes in.
const product = cache.define({ name: 'product', load: (id: number) => db.find(id) })
is<Same<Awaited<ReturnType<typeof product.get>>, Product | null>>(true)
void product.set(1, null)
// @ts-expect-error undefined is not among what this loader gives
void product.set(1, undefined)
const maybe = cache.define({
  name: 'maybe',
  load: async (id: number): Promise<string | undefined> => (id > 0 ? 'a' : undefined),
})
is<Same<Awaited<ReturnType<typeof maybe.get>>, string | undefined>>(true)

// Objects, tuples, unions and optional properties as arguments.
const search = cache.define({
  name: 'search',
  load: async (query: { text: string; page?: number | undefined }) => [query.text],
})
void search.get({ text: 'a' })
void search.get({ text: 'a', page: undefined })
// @ts-expect-error text is missing
void search.get({ page: 1 })
const pair = cache.define({
  name: 'pair',
  load: async ([user, tenant]: readonly [number, string]) => `${user}${tenant}`,
})
void pair.get([1, 'a'])
// @ts-expect-error in the other order
void pair.get(['a', 1])
const dated = cache.define({ name: 'dated', load: async (day: Date | bigint) => String(day) })
void dated.get(new Date())
void dated.getMany([1n, new Date()])

// `key` is given the argument; `version` is text or a number.
cache.define({
  name: 'user',
  load: async (user: { id: number; session: object }) => user.id,
  key: (user) => user.id,
  version: 2,
})
cache.define({
  name: 'user2',
  load: async (user: { id: number }) => user.id,
  // @ts-expect-error no such property
  key: (user) => user.ID,
})

// `previous` is unknown until the context is annotated.
cache.define({
  name: 'previous',
  load: async (_url: string, ctx): Promise<Feed> => {
    is<Same<NonNullable<typeof ctx.previous>['value'], unknown>>(true)
    is<Same<NonNullable<typeof ctx.previous>['meta'], unknown>>(true)
    is<Same<typeof ctx.reason, LoadReason>>(true)
    is<Same<typeof ctx.signal, AbortSignal>>(true)
    return { items: [] }
  },
})
const feed = cache.define({
  name: 'feed',
  load: async (url: string, ctx: LoadContext<Feed, { etag: string }>) => {
    const { previous, meta, ttl, notModified, noStore } = ctx
    if (previous !== undefined) {
      is<Same<typeof previous, { value: Feed; storedAt: number; meta: { etag: string } }>>(true)
      if (previous.meta.etag === url) return notModified()
    }
    meta({ etag: 'a' })
    ttl('5m')
    noStore()
    return { items: [url] }
  },
})
is<Same<Awaited<ReturnType<typeof feed.get>>, { items: string[] }>>(true)

// Options that take the value or the argument are given their types.
cache.define({
  name: 'typed',
  load: async (id: number) => (id > 0 ? { id } : null),
  isNegative: (value) => {
    is<Same<typeof value, { id: number } | null>>(true)
    return value === null
  },
  fallback: (error, id) => {
    is<Same<typeof error, unknown>>(true)
    is<Same<typeof id, number>>(true)
    return { id }
  },
  errors: {
    toWire: (error) => ({ message: String(error) }),
    fromWire: (json) => new Error(String(json)),
  },
  isFailure: (error) => error instanceof Error,
  memory: false,
  store: undefined,
})
cache.define({
  name: 'wrong-fallback',
  load: async (id: number) => ({ id }),
  // @ts-expect-error a fallback is a value like any other
  fallback: () => 'none',
})

// What inference must not do: let an option widen the value, or lose the loader's union.
const union = cache.define({
  name: 'union',
  load: async (id: number): Promise<{ kind: 'a' } | { kind: 'b'; n: number }> =>
    id > 0 ? { kind: 'a' } : { kind: 'b', n: id },
  isNegative: (value) => value.kind === 'a',
})
is<Same<Awaited<ReturnType<typeof union.get>>, { kind: 'a' } | { kind: 'b'; n: number }>>(true)

// A generic factory of resources.
function byId<Row>(name: string, find: (id: number) => Promise<Row>): Resource<number, Row> {
  return cache.define<number, Row>({ name, load: (id) => find(id) }) as Resource<number, Row>
}
is<Same<ReturnType<typeof byId<Product>>, Resource<number, Product>>>(true)

// Tags see the value and the argument; a batch gives a list, or a Map where absent can mean null.
const users = cache.define({
  name: 'users',
  load: async (id: number): Promise<Product | null> => db.find(id),
  loadMany: async (ids, ctx) => {
    is<Same<typeof ids, readonly number[]>>(true)
    const { tags, ttl } = ctx.entry(ids[0]!)
    tags('a', 'b')
    ttl('5s')
    // @ts-expect-error of another type than the argument
    ctx.entry('one')
    return new Map(ids.map((id): [number, Product | Error] => [id, { id, name: 'x' }]))
  },
  tags: (value, id) => [`user:${id}`, ...(value === null ? [] : [value.name])],
})
is<Same<Awaited<ReturnType<typeof users.getMany>>, (Product | null)[]>>(true)
cache.define({
  name: 'strict',
  load: async (id: number): Promise<Product> => ({ id, name: '' }),
  // @ts-expect-error absent would mean null, which the value cannot be
  loadMany: async (ids) => new Map(ids.map((id): [number, Product] => [id, { id, name: 'x' }])),
})
cache.define({
  name: 'in-order',
  load: async (id: number): Promise<Product> => ({ id, name: '' }),
  loadMany: async (ids) => ids.map((id) => (id > 0 ? { id, name: 'x' } : new Error('none'))),
  tags: ['all'],
})
void cache.invalidateTags('a', { settle: '2s' })
void cache.invalidateTags(['a', 'b'] as const)
void cache.expireTags(['a'])
void users.clear()
void cache.expireAll()
void users.invalidate(1, { settle: undefined })
// @ts-expect-error expireTags does not settle
void cache.expireTags('a', { settle: '2s' })
