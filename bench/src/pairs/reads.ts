// Hits in Redis: 64 callers at once, either of distinct keys or all of one. No memory tier, so that
// every read that is not shared with another goes to Redis.

import { lanes } from './lanes.ts'
import { openFilled, pagesOf, parseCell } from './pages.ts'
import type { Workload } from './plan.ts'

const callers = 64

export const reads: Workload = async (contender, cell, url) => {
  const { kilobytes, keys } = parseCell(cell)
  const pages = pagesOf({ kilobytes, keys })
  const { opened, checkLoads } = await openFilled(contender, { pages, tiers: 'redis', url })
  let first = 0
  return {
    name: contender.name,
    run: async (operations) => {
      await lanes(callers, operations, async (at) => {
        const id = (first + at) % keys
        const page = await opened.get(id)
        if (page.id !== id) throw new Error(`asked for page ${id}, it gave ${page.id}`)
      })
      first = (first + operations) % keys
      checkLoads()
    },
    close: () => opened.close(),
  }
}
