// Waiting for what another process does: there is nothing to await but its answer.

import { setTimeout as sleep } from 'node:timers/promises'

const withinMs = 60_000

/** Resolves with the first answer that is not `undefined`. A rejection counts as none, until the end. */
export async function waitFor<T>(what: string, look: () => Promise<T | undefined>): Promise<T> {
  const end = performance.now() + withinMs
  for (;;) {
    let trouble: unknown
    try {
      const found = await look()
      if (found !== undefined) return found
    } catch (error) {
      trouble = error
    }
    if (performance.now() > end) {
      throw new Error(`expected ${what} within ${withinMs} ms`, { cause: trouble })
    }
    await sleep(50)
  }
}
