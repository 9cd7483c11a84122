// Shared guards on one server, each with a client of its own; they end with the tests of the file.

import { afterAll } from 'vitest'
import type { GuardRig, TestGuard } from '../guard/guard-suite.ts'
import { freshName, quickGuard, type QuickOptions } from './quick-guard.ts'

export type RigOf = (client: () => object, options?: Partial<QuickOptions<unknown>>) => GuardRig

/** `copiesLagMs`: how much later than its server a copy may hear of an addition. */
export function guardRigs(kind: GuardRig['kind'], copiesLagMs = 0): RigOf {
  const opened: { close(): Promise<void> }[] = []
  afterAll(async () => {
    await Promise.all(opened.splice(0).map((guard) => guard.close()))
  })
  return (client, options = {}) => ({
    kind,
    lagMs: options.replica === true ? copiesLagMs : 0,
    open: async ({ key, name = freshName() } = {}) => {
      const guard = quickGuard<unknown>({ ...options, client: client(), key: key as never, name })
      opened.push(guard)
      return guard as TestGuard
    },
  })
}
