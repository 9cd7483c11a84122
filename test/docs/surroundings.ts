// What the examples of the documentation find in place, so that each can be short: a slow source, a
// cache, a Redis client. An example that declares one of these names itself uses its own.

import { setTimeout as wait } from 'node:timers/promises'
import { createCache } from 'breakwater'
import { Redis } from 'ioredis'

export interface Product {
  id: string
  name: string
  price: number
}

const shelves: Readonly<Record<string, readonly Product[]>> = {
  keyboards: [{ id: 'k1', name: 'keyboard', price: 49 }],
  mice: [{ id: 'm1', name: 'mouse', price: 19 }],
}

export const db = {
  async products(category: string, how: { signal?: AbortSignal } = {}): Promise<Product[]> {
    await wait(5, undefined, how)
    return [...(shelves[category] ?? [])]
  },
  async product(id: string, how: { signal?: AbortSignal } = {}): Promise<Product | undefined> {
    await wait(5, undefined, how)
    return Object.values(shelves)
      .flat()
      .find((one) => one.id === id)
  },
  async save(product: Product): Promise<void> {
    await wait(5, product)
  },
}

export const cache = createCache({ namespace: 'docs', ttl: '60s' })

/** Connects when it is used. */
export const client = new Redis(process.env['REDIS_URL'] ?? '', { lazyConnect: true })

export const sleep = (ms: number): Promise<void> => wait(ms)
