/** A store that fails, is slow, or freezes on command: what your code does then can be tested. */
import { durationMs } from '../core/duration.ts'
import { invalidOption } from '../core/errors.ts'
import { port, type BusMessage, type Store, type StorePort, type StoreSession } from '../ports.ts'

export interface FaultyStore extends Store {
  /** Every operation rejects from now on, as with a lost connection. */
  fail(error?: Error): void
  /** Every operation takes this many milliseconds longer, on the cache's clock. */
  delay(ms: number): void
  /** Every operation is taken and not answered, as by a frozen server; `heal` lets them happen late. */
  hang(): void
  heal(): void
}

type State =
  | { readonly type: 'well' }
  | { readonly type: 'failing'; readonly error: Error }
  | { readonly type: 'slow'; readonly ms: number }
  | { readonly type: 'hanging'; readonly thawed: Promise<void>; thaw(): void }

const operations = [
  'read', 'readMany', 'acquire', 'publish', 'touch', 'renew', 'release', 'fail', 'invalidate', 'expire', 'write', 'want',
  'epochs', 'bump', 'tokens', 'beat',
] as const satisfies readonly (keyof StoreSession)[] // prettier-ignore

/** Wraps a store made by `memoryStore()` or `redisStore()`. One switch for all caches on it. */
export function faultyStore(inner: Store): FaultyStore {
  if (inner?.[port] !== 'store')
    throw invalidOption('faultyStore', 'a store made by memoryStore() or redisStore()', inner)
  const store = inner as StorePort
  let state: State = { type: 'well' }
  const become = (next: State): void => {
    const before = state
    state = next
    if (before.type === 'hanging') before.thaw()
  }
  const faulty: StorePort & FaultyStore = {
    ...store,
    open: (scope) => {
      const session = store.open({ ...scope, onMessage: (message) => deliver(message) })
      // A frozen server pushes nothing either, and what it held back comes in its order.
      let delivered: Promise<void> | undefined
      const deliver = (message: BusMessage): void => {
        if (state.type !== 'hanging' && delivered === undefined) return scope.onMessage(message)
        const before = delivered ?? Promise.resolve()
        const turn: Promise<void> = before.then(thawed).then(() => {
          if (delivered === turn) delivered = undefined
          scope.onMessage(message)
        })
        delivered = turn
      }
      const wait = (ms: number): Promise<void> =>
        new Promise((resolve) => void scope.clock.after(ms, resolve))
      const wrapped: Record<string, unknown> = {
        get ready() {
          return session.ready
        },
        hasBus: session.hasBus,
        fromReplica: session.fromReplica,
        isRefusal: (error: unknown) => session.isRefusal(error),
        isReply: (error: unknown) => session.isReply(error),
        received: () => session.received(),
        reconnect: (what: 'commands' | 'bus') => session.reconnect(what),
        close: () => session.close(),
      }
      for (const name of operations) {
        const run = session[name].bind(session) as (...args: unknown[]) => Promise<unknown>
        wrapped[name] = async (...args: unknown[]) => {
          const now = state
          if (now.type === 'slow') await wait(now.ms)
          if (now.type === 'hanging') await thawed()
          if (state.type === 'failing') throw state.error
          return run(...args)
        }
      }
      return wrapped as unknown as StoreSession
    },
    fail: (error = new Error('the store was told to fail')) => become({ type: 'failing', error }),
    delay: (ms) =>
      become({ type: 'slow', ms: durationMs(ms, 'faultyStore.delay', { allowZero: true }) }),
    hang: () => {
      let thaw!: () => void
      const thawed_ = new Promise<void>((resolve) => (thaw = resolve))
      become({ type: 'hanging', thawed: thawed_, thaw })
    },
    heal: () => become({ type: 'well' }),
  }
  return faulty

  async function thawed(): Promise<void> {
    while (state.type === 'hanging') await state.thawed
  }
}
