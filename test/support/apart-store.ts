// A store with a clock of its own, as that of another host: the processes have to learn its time.

import type { Clock, StorePort, StoreScope } from '../../src/ports.ts'
import { port, type Store } from '../../src/ports.ts'
import { memoryStore } from '../../src/testing/index.ts'

/** `beatMs`: how long the first word of its time takes, as a connection does. */
export function apartStore(clock: Clock, { beatMs = 0 } = {}): Store {
  const inner = memoryStore() as StorePort
  const store: StorePort & Store = {
    [port]: 'store',
    open(scope: StoreScope) {
      const session = inner.open({ ...scope, clock })
      const beat = session.beat.bind(session)
      session.beat = async (...asked) => {
        if (beatMs > 0) await new Promise<void>((resolve) => void clock.after(beatMs, resolve))
        return beat(...asked)
      }
      return session
    },
  }
  return store
}
