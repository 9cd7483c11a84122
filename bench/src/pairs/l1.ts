// Hits in memory, one after the other: 200 keys, the cell says whether ids are strings or numbers.
// lru-cache has a loop of its own, so that neither side pays for the other's types. A cache with two
// tiers has both, as its documentation advises. Every side has loaded before, so breakwater's
// AsyncLocalStorage is in use, as it is in an application.

import type { Contender, Id, Item } from '../contenders/contender.ts'
import { lru } from '../contenders/contenders.ts'
import type { Workload } from './plan.ts'

const keys = 200

export const l1: Workload = async (contender, cell, url) => {
  const ids = Array.from({ length: keys }, (_, at): Id => (cell === 'string' ? `kb-${at}` : at))
  let loads = 0
  const opened = await contender.open({
    tiers: tiersOf(contender),
    url,
    ttlMs: 3_600_000,
    staleMs: 0,
    maxEntries: 10_000,
    patient: true,
    load: async (key) => {
      loads += 1
      const id = cell === 'string' ? key : Number(key)
      return { id, title: `Mechanical keyboard ${id}`, stock: 12, price: { amount: 4_999 } } as Item
    },
  })
  for (const id of ids) await opened.get(id)
  const filled = loads

  const loop = contender === lru ? lruLoop : cacheLoop
  return {
    name: contender.name,
    run: async (operations) => {
      const right = await loop(opened.get, ids, operations)
      if (right !== operations) throw new Error('it gave another item than it was asked for')
      if (loads !== filled) throw new Error('it loaded what it has in memory')
    },
    close: () => opened.close(),
  }
}

function tiersOf({ twoTiers }: Contender) {
  return twoTiers ? 'both' : 'memory'
}

type Get = (id: Id) => Item | Promise<Item>

async function cacheLoop(get: Get, ids: readonly Id[], operations: number): Promise<number> {
  let right = 0
  for (let at = 0; at < operations; at += 1) {
    const id = ids[at % keys] ?? ''
    const item = await get(id)
    if (item.id === id) right += 1
  }
  return right
}

// The same text, so that V8 compiles it for lru-cache alone.
async function lruLoop(get: Get, ids: readonly Id[], operations: number): Promise<number> {
  let right = 0
  for (let at = 0; at < operations; at += 1) {
    const id = ids[at % keys] ?? ''
    const item = await get(id)
    if (item.id === id) right += 1
  }
  return right
}
