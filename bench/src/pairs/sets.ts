// Writes of distinct keys, 64 callers at once, each waiting until its cache says that it is done. A
// cache with two tiers writes to both.

import { lanes } from './lanes.ts'
import { openFilled, pagesOf, parseCell } from './pages.ts'
import { hasNone, type Workload } from './plan.ts'

const callers = 64

export const sets: Workload = async (contender, cell, url) => {
  const { kilobytes, keys } = parseCell(cell)
  const pages = pagesOf({ kilobytes, keys })
  const tiers = contender.twoTiers ? 'both' : 'redis'
  const { opened } = await openFilled(contender, { pages, tiers, url })
  let first = 0
  return {
    name: contender.name,
    run: async (operations) => {
      await lanes(callers, operations, async (at) => {
        const page = pages[(first + at) % keys]
        if (opened.set === undefined || page === undefined) throw new Error(hasNone)
        await opened.set(page.id, page)
      })
      first = (first + operations) % keys
    },
    close: () => opened.close(),
  }
}
