// A store that counts what is asked of it and what of that is still unanswered, and can hold the
// answers (not the effects) of single operations back.

import { port, type Store, type StorePort, type StoreSession } from '../../src/ports.ts'

type Operation = Exclude<keyof StoreSession, 'ready' | 'hasBus' | 'close'>

const operations: readonly Operation[] = [
  'read', 'readMany', 'acquire', 'publish', 'touch', 'renew', 'release', 'fail', 'invalidate', 'expire', 'write',
  'epochs', 'bump', 'tokens', 'beat',
] // prettier-ignore

export interface Spy {
  readonly store: Store
  /** Asked so far. */
  count(operation: Operation): number
  /** Asked and not answered. */
  readonly unanswered: number
  /** From now on answers of this operation are kept until `letGo`. It happens all the same. */
  holdAnswers(operation: Operation): void
  letGo(): void
  /** The next one of this operation rejects and does nothing. */
  failNext(operation: Operation, error?: Error): void
  /** True: what others tell does not arrive, and nothing says so. */
  muted: boolean
}

export function spyStore(inner: Store): Spy {
  const counts = new Map<Operation, number>()
  const held = new Set<Operation>()
  const failures = new Map<Operation, Error>()
  let unanswered = 0
  let release = () => {}
  let gate = Promise.resolve()
  const store: StorePort = {
    [port]: 'store',
    open(scope) {
      const session = (inner as StorePort).open({
        ...scope,
        onMessage: (message) => {
          if (!spy.muted) scope.onMessage(message)
        },
      })
      const spied: Record<string, unknown> = {
        get ready() {
          return session.ready
        },
        hasBus: session.hasBus,
        isRefusal: (error: unknown) => session.isRefusal(error),
        isReply: (error: unknown) => session.isReply(error),
        received: () => session.received(),
        reconnect: (what: 'commands' | 'bus') => session.reconnect(what),
        close: () => session.close(),
      }
      for (const name of operations) {
        spied[name] = async (...args: unknown[]) => {
          counts.set(name, (counts.get(name) ?? 0) + 1)
          const failure = failures.get(name)
          failures.delete(name)
          if (failure !== undefined) throw failure
          unanswered += 1
          try {
            const run = session[name] as (...given: unknown[]) => Promise<unknown>
            const result = await run.apply(session, args)
            if (held.has(name)) await gate
            return result
          } finally {
            unanswered -= 1
          }
        }
      }
      return spied as unknown as StoreSession
    },
  }
  const spy: Spy = {
    muted: false,
    store,
    count: (operation) => counts.get(operation) ?? 0,
    get unanswered() {
      return unanswered
    },
    holdAnswers(operation) {
      if (held.size === 0) gate = new Promise((resolve) => (release = resolve))
      held.add(operation)
    },
    letGo() {
      held.clear()
      release()
    },
    failNext(operation, error = new Error(`${operation} was told to fail`)) {
      failures.set(operation, error)
    },
  }
  return spy
}
