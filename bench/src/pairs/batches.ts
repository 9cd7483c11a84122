// 100 of 200 keys in one call, one call after the other, from Redis.

import { openFilled, pagesOf, parseCell } from './pages.ts'
import { hasNone, type Workload } from './plan.ts'

const size = 100

export const batches: Workload = async (contender, cell, url) => {
  const { kilobytes, keys } = parseCell(cell)
  const pages = pagesOf({ kilobytes, keys })
  const { opened, checkLoads } = await openFilled(contender, { pages, tiers: 'redis', url })
  const ids = pages.map(({ id }) => id)
  let first = 0
  return {
    name: contender.name,
    run: async (operations) => {
      if (opened.getMany === undefined) throw new Error(hasNone)
      for (let at = 0; at < operations; at += 1) {
        const asked = Array.from({ length: size }, (_, n) => ids[(first + n) % keys] ?? 0)
        const found = await opened.getMany(asked)
        if (!asked.every((id, n) => found[n]?.id === id)) {
          throw new Error('it gave other pages than it was asked for')
        }
        first = (first + 37) % keys
      }
      checkLoads()
    },
    close: () => opened.close(),
  }
}
