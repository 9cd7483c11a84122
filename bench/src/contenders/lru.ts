// The bare part that hits in memory are compared with: lru-cache itself.

import { LRUCache } from 'lru-cache'
import type { Item, Opened, Setting } from './contender.ts'

export async function open({ maxEntries, load }: Setting): Promise<Opened> {
  const cache = new LRUCache<string, Item>({ max: maxEntries })
  return {
    get: (id) => cache.get(`items:${id}`) ?? fill(id),
    close: async () => undefined,
  }
  async function fill(id: string | number): Promise<Item> {
    const item = await load(id)
    cache.set(`items:${id}`, item)
    return item
  }
}
