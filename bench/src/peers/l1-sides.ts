// The sides of l1-hit. All of them hold the same small object under the same ids, in memory alone.

import { Client, Policy } from '@hapi/catbox'
import { Engine } from '@hapi/catbox-memory'
import { createCache as createDedupe } from 'async-cache-dedupe'
import { BentoCache, bentostore } from 'bentocache'
import { memoryDriver } from 'bentocache/drivers/memory'
import { createCache } from 'breakwater'
import { LRUCache } from 'lru-cache'
import type { Side } from '../measure/pairs.ts'

export type Id = string | number

interface Product {
  id: Id
  title: string
  stock: number
  price: { amount: number; currency: string }
}

const load = async (id: Id): Promise<Product> => ({
  id,
  title: `Mechanical keyboard ${id}`,
  stock: 12,
  price: { amount: 4_999, currency: 'EUR' },
})

interface Sides {
  readonly sides: readonly Side[]
  close(): Promise<void>
}

export async function l1Sides(ids: readonly Id[], laps: number): Promise<Sides> {
  const made = [
    await lru(ids, laps),
    await breakwater(ids, laps),
    await bento(ids, laps),
    await dedupe(ids, laps),
    await catbox(ids, laps),
  ]
  for (const side of made) await side.batch()
  return {
    sides: made,
    close: async () => {
      for (const { close } of made) await close?.()
    },
  }
}

type Closable = Side & { close?(): Promise<unknown> }

async function lru(ids: readonly Id[], laps: number): Promise<Closable> {
  const cache = new LRUCache<string, Product>({ max: 10_000 })
  for (const id of ids) cache.set(`products:${id}`, await load(id))
  const batch = async (): Promise<void> => {
    let stock = 0
    for (let lap = 0; lap < laps; lap += 1) {
      for (const id of ids) {
        // oxlint-disable-next-line typescript/await-thenable -- what an async reader of it costs
        const product = await cache.get(`products:${id}`)
        if (product !== undefined) stock += product.stock
      }
    }
    expect(stock, ids, laps)
  }
  return { name: 'lru-cache', batch }
}

async function breakwater(ids: readonly Id[], laps: number): Promise<Closable> {
  const cache = createCache({ namespace: 'bench', ttl: '1h' })
  const products = cache.define({ name: 'products', load })
  const batch = async (): Promise<void> => {
    let stock = 0
    for (let lap = 0; lap < laps; lap += 1) {
      for (const id of ids) {
        const product = await products.get(id)
        stock += product.stock
      }
    }
    expect(stock, ids, laps)
  }
  return { name: 'breakwater', batch, close: () => cache.close() }
}

async function bento(ids: readonly Id[], laps: number): Promise<Closable> {
  const cache = new BentoCache({
    default: 'products',
    ttl: '1h',
    stores: { products: bentostore().useL1Layer(memoryDriver({ maxItems: 10_000 })) },
  })
  const batch = async (): Promise<void> => {
    let stock = 0
    for (let lap = 0; lap < laps; lap += 1) {
      for (const id of ids) {
        const product = await cache.getOrSet({ key: `products:${id}`, factory: () => load(id) })
        stock += product.stock
      }
    }
    expect(stock, ids, laps)
  }
  return { name: 'bentocache', batch, close: () => cache.disconnectAll() }
}

async function dedupe(ids: readonly Id[], laps: number): Promise<Closable> {
  const options = { ttl: 3_600, storage: { type: 'memory', options: { size: 10_000 } } } as const
  const cache = createDedupe(options).define('products', load)
  const batch = async (): Promise<void> => {
    let stock = 0
    for (let lap = 0; lap < laps; lap += 1) {
      for (const id of ids) {
        const product = (await cache.products(id)) as Product
        stock += product.stock
      }
    }
    expect(stock, ids, laps)
  }
  return { name: 'async-cache-dedupe', batch }
}

async function catbox(ids: readonly Id[], laps: number): Promise<Closable> {
  const client = new Client<Product>(Engine)
  await client.start()
  const policy = new Policy(
    {
      expiresIn: 3_600_000,
      generateTimeout: 5_000,
      generateFunc: async (id) => load(typeof id === 'string' ? id : id.id),
    },
    client,
    'products',
  )
  const batch = async (): Promise<void> => {
    let stock = 0
    for (let lap = 0; lap < laps; lap += 1) {
      for (const id of ids) {
        const product = (await policy.get(String(id))) as Product
        stock += product.stock
      }
    }
    expect(stock, ids, laps)
  }
  return { name: 'catbox', batch, close: () => client.stop() }
}

function expect(stock: number, ids: readonly Id[], laps: number): void {
  if (stock !== 12 * ids.length * laps)
    throw new Error(`read ${stock}, which is not what was put in`)
}
