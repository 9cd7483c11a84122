// One process that weighs one cache: fills it, weighs the heap, lets the cache go, weighs again. The
// difference is what the cache held. With `held`, an array holds every value all along, so that the
// difference is what the cache had beside them: keys, entries, promises, the list of the LRU.

import { setTimeout as sleep } from 'node:timers/promises'
import { answer } from '../child/child.ts'
import type { Item, Opened, Tiers } from '../contenders/contender.ts'
import { contenderOf } from '../contenders/contenders.ts'

export interface WeighPlan {
  readonly contender: string
  readonly tiers: Tiers
  readonly url: string
  readonly entries: number
  readonly held: boolean
}

export type Weight =
  | { readonly bytesPerEntry: number }
  /** Every read gives another object, so that nothing can be held. */
  | { readonly copies: true }

const item = (id: number): Item & Record<string, unknown> => ({
  id,
  title: `Mechanical keyboard ${id}`,
  tags: [`layout-${id}`],
  price: { amount: 4_999 + id, currency: 'EUR' },
})

await answer(weigh)

async function weigh(plan: WeighPlan): Promise<Weight> {
  const values: unknown[] = []
  let cache: Opened | undefined = await filled(plan)
  for (let id = 0; plan.held && id < plan.entries; id += 1) values.push(await cache.get(id))
  if (plan.held && (await cache.get(3)) !== values[3]) return { copies: true }

  const full = await heapBytes()
  const gone = new WeakRef(cache)
  await cache.close()
  cache = undefined
  const empty = await heapBytes()
  if (gone.deref() !== undefined) throw new Error('the closed cache could not be collected')
  if (plan.held && values.length !== plan.entries) throw new Error('the values are gone')
  return { bytesPerEntry: (full - empty) / plan.entries }
}

async function filled({ contender, tiers, url, entries }: WeighPlan): Promise<Opened> {
  let loads = 0
  const cache = await contenderOf(contender).open({
    tiers,
    url,
    ttlMs: 3_600_000,
    staleMs: 0,
    maxEntries: entries,
    patient: true,
    load: async (id) => {
      loads += 1
      return item(Number(id))
    },
  })
  for (let id = 0; id < entries; id += 1) await cache.get(id)
  await sleep(200)
  loads = 0
  for (let id = 0; id < entries; id += 1) await cache.get(id)
  if (loads > 0) throw new Error(`it kept ${entries - loads} of ${entries} entries`)
  return cache
}

/** After everything that can go has gone. Typed arrays live outside of `heapUsed`. */
async function heapBytes(): Promise<number> {
  if (globalThis.gc === undefined) throw new Error('expected to be run with --expose-gc')
  for (let pass = 0; pass < 5; pass += 1) {
    globalThis.gc()
    await sleep(50)
  }
  const { heapUsed, external } = process.memoryUsage()
  return heapUsed + external
}
