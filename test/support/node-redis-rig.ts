// What the conformance suite stands on: sessions on one store, closed together.

import type { Store } from '../../src/ports.ts'
import type { StoreRig } from '../../src/testing/store-suite.ts'
import { openSession, sleep, type Watched } from './open-session.ts'

export function suiteRig() {
  const open: Watched[] = []
  return {
    on(makeStore: () => Store | Promise<Store>): StoreRig {
      return {
        pass: sleep,
        async open(namespace = 'suite') {
          const watched = openSession(await makeStore(), { namespace })
          open.push(watched)
          await watched.reaches('up')
          return watched
        },
      }
    },
    async close(): Promise<void> {
      await Promise.all(open.splice(0).map(({ session }) => session.close()))
    },
  }
}
