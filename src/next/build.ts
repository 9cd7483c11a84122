/**
 * `next build`: no cache is asked and none is made, since it must work where there is no Redis. What
 * pages of one build worker share is kept while it runs.
 */
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import type { Kept } from './kept.ts'
import type { Shelf } from './shelves.ts'

export function isBuilding(): boolean {
  return process.env['NEXT_PHASE'] === 'phase-production-build'
}

/** `serverDistDir` is `.next/server`, as handlers are told. In development there is none. */
export function buildIdOf(serverDistDir: unknown): string {
  if (typeof serverDistDir !== 'string') return 'development'
  try {
    return readFileSync(join(serverDistDir, '..', 'BUILD_ID'), 'utf8').trim()
  } catch {
    return 'development'
  }
}

/** Which Next.js it is: from 16.4 on it takes the lifetime of a page from the handler. Unknown: the newest. */
export function takesLifetime(serverDistDir: unknown): boolean {
  if (typeof serverDistDir !== 'string') return true
  try {
    const installed = createRequire(join(serverDistDir, 'of.js'))('next/package.json') as object
    const [major = 0, minor = 0] = String((installed as { version?: unknown }).version)
      .split('.')
      .map(Number)
    return major > 16 || (major === 16 && minor >= 4)
  } catch {
    return true
  }
}

const mostEntries = 1_000

export function buildShelf(): Shelf {
  const entries = new Map<string, Kept>()
  return {
    ask: async (key) => {
      const kept = entries.get(key)
      return kept === undefined ? { type: 'nothing' } : { type: 'fresh', kept }
    },
    ended: (key) => async (kept) => {
      if (kept !== undefined && entries.size < mostEntries) entries.set(key, kept)
    },
  }
}

/** Next.js writes pages into its own output. */
export const nowhere: Shelf = {
  ask: async () => ({ type: 'nothing' }),
  ended: () => async () => {},
}
