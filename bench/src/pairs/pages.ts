// The pages of the workloads that go to Redis, and a contender that is opened for them.

import { setTimeout as sleep } from 'node:timers/promises'
import type { Contender, Opened, Tiers } from '../contenders/contender.ts'
import { productPage, type Page } from '../measure/product.ts'

export interface PageCell {
  readonly kilobytes: number
  readonly keys: number
}

/** `1 KB, 200 keys` */
export function parseCell(cell: string): PageCell {
  const [, kilobytes, keys] = /^(\d+) KB(?:, (\d+) keys?)?$/.exec(cell) ?? []
  return { kilobytes: Number(kilobytes), keys: Number(keys ?? 200) }
}

export function pagesOf({ kilobytes, keys }: PageCell): Page[] {
  return Array.from({ length: keys }, (_, id) => productPage(id, kilobytes))
}

export interface PageCache {
  readonly opened: Opened
  /** Throws when it has loaded again what was put in. */
  checkLoads(): void
}

export async function openFilled(
  contender: Contender,
  { pages, tiers, url }: { pages: readonly Page[]; tiers: Tiers; url: string },
): Promise<PageCache> {
  let loads = 0
  const opened = await contender.open({
    tiers,
    url,
    ttlMs: 3_600_000,
    staleMs: 0,
    maxEntries: 10_000,
    patient: true,
    load: async (id) => {
      loads += 1
      return structuredClone(pages[Number(id)] ?? { id })
    },
  })
  const readAll = (): Promise<unknown> => Promise.all(pages.map(async ({ id }) => opened.get(id)))
  await readAll()
  // What is stored behind the answer is there when a read finds it.
  for (let before = 0; before < loads;) {
    before = loads
    await sleep(50)
    await readAll()
    if (loads > 50 * pages.length) throw new Error('it does not keep what it loads')
  }
  const filled = loads
  return {
    opened,
    checkLoads: () => {
      if (loads !== filled) throw new Error(`it loaded ${loads - filled} times what Redis has`)
    },
  }
}
