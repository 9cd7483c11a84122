// What the conformance suite stands on: sessions on one store, closed together. A cluster tells of
// the keys of one call in no order, since each of its servers tells of its own; here it is the call's.

import type { BusMessage, Store } from '../../src/ports.ts'
import { heard } from '../../src/testing/store-rig.ts'
import type { StoreRig } from '../../src/testing/store-suite.ts'
import { openSession, sleep, until, type Watched } from './open-session.ts'

type MakeStore = () => Store | Promise<Store>

export function suiteRig() {
  const opened: Watched[] = []
  const open = async (makeStore: MakeStore, namespace = 'suite') => {
    const watched = openSession(await makeStore(), { namespace })
    opened.push(watched)
    await watched.reaches('up')
    return watched
  }
  return {
    on: (makeStore: MakeStore): StoreRig => ({
      pass: sleep,
      open: (namespace) => open(makeStore, namespace),
    }),

    onCluster(makeStore: MakeStore): StoreRig {
      const calls = new Map<string, readonly string[]>()
      return {
        pass: sleep,
        async open(namespace) {
          const { session, messages } = await open(makeStore, namespace)
          await until(() => session.ready)
          // What an earlier case has published may still be on its way from server to server.
          await heard({ session, messages })
          messages.length = 0
          for (const name of ['invalidate', 'expire'] as const) {
            const run = session[name].bind(session)
            session[name] = (keys, id) => {
              if (keys.length > 0) calls.set(id, keys)
              return run(keys, id)
            }
          }
          return {
            session,
            get messages() {
              return inOrder(messages, calls)
            },
          }
        },
      }
    },

    async close(): Promise<void> {
      await Promise.all(opened.splice(0).map(({ session }) => session.close()))
    },
  }
}

/** Messages of one call together, where its first one came, in the order of its keys. */
function inOrder(messages: readonly BusMessage[], calls: ReadonlyMap<string, readonly string[]>) {
  const groups = new Map<unknown, BusMessage[]>()
  for (const message of messages) {
    const call = 'id' in message ? message.id : message
    groups.set(call, [...(groups.get(call) ?? []), message])
  }
  return [...groups].flatMap(([call, group]) => {
    const keys = typeof call === 'string' ? calls.get(call) : undefined
    const place = (one: BusMessage) => ('key' in one ? (keys?.indexOf(one.key) ?? 0) : 0)
    return group.sort((one, two) => place(one) - place(two))
  })
}
