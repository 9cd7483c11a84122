// What the types of `breakwater/postgres` admit and refuse.

import { createCache } from '../../src/index.ts'
import {
  expire,
  invalidate,
  invalidateAll,
  invalidateTags,
  onTable,
  postgresChanges,
  refresh,
} from '../../src/postgres/index.ts'

const cache = createCache({ namespace: 'types', ttl: '1s' })
const product = cache.define({ name: 'product', load: async (id: number) => ({ id, name: 'x' }) })
const pair = cache.define({ name: 'pair', load: async ([a, b]: [string, number]) => a.repeat(b) })
const settings = cache.define({ name: 'settings', load: async () => ({ theme: 'dark' }) })

interface ProductRow {
  id: number
  category: string
}

const table = onTable<ProductRow>('public.products', {
  columns: ['id', 'category'],
  affects: [product, pair, settings, cache],
  change: ({ kind, row, old }) => {
    if (kind === 'insert') {
      // @ts-expect-error an inserted row was not there before
      return invalidate(product, old.id)
    }
    if (kind === 'delete') {
      // @ts-expect-error a deleted row is not there any more
      return invalidate(product, row.id)
    }
    return [
      invalidate(product, row.id),
      expire(product, old.id),
      refresh(pair, [row.category, old.id]),
      invalidate(settings),
      invalidateAll(pair),
      invalidateTags(row.category, old.category),
      // @ts-expect-error the argument is a number
      invalidate(product, row.category),
      // @ts-expect-error an argument is needed
      expire(product),
      // @ts-expect-error there is none
      refresh(settings, 1),
      // @ts-expect-error no such column
      invalidate(product, row.price),
    ]
  },
})

onTable<ProductRow>('products', {
  // @ts-expect-error no such column
  columns: ['price'],
  affects: [product],
  change: () => undefined,
})

onTable<ProductRow>('products', {
  affects: [product],
  // @ts-expect-error mappings are synchronous
  change: async ({ row }) => invalidate(product, row?.id ?? 0),
})

postgresChanges({
  cache,
  connection: { connectionString: 'postgres://…', password: async () => 'x' },
  mode: 'notify',
  name: 'shop',
  tables: [table],
  settle: undefined,
  lag: { warn: '1GiB', drop: false },
})

postgresChanges({
  cache,
  connection: 'postgres://…',
  // @ts-expect-error one of two
  mode: 'polling',
  name: 'shop',
  tables: [table],
})
