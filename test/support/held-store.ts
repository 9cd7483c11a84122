// A store whose replies and messages can be held back: what happened in the store has happened, the
// process learns of it later. This is how two connections to one server overtake each other.

import type { BusMessage, Store, StorePort, StoreSession } from '../../src/ports.ts'

type Operation =
  'read' | 'readMany' | 'acquire' | 'publish' | 'invalidate' | 'expire' | 'write' | 'fail'

const operations: readonly Operation[] = [
  'read',
  'readMany',
  'acquire',
  'publish',
  'invalidate',
  'expire',
  'write',
  'fail',
]

export interface HeldStore extends Store {
  /** Replies of this operation arrive only when released; the operation itself is done at once. */
  holdReplies(of: Operation): void
  /** The operation itself is done only when released. */
  holdRequests(of: Operation): void
  /** Messages arrive only when released, in their order. */
  holdBus(): void
  releaseReplies(of: Operation): void
  releaseRequests(of: Operation): void
  releaseBus(): void
  /** How often the operation was asked for. */
  asked(of: Operation): number
  /** The bus connection is lost; messages meanwhile are, too. */
  loseBus(): void
  regainBus(): void
}

class Gate {
  #waiting: (() => void)[] | undefined

  close(): void {
    this.#waiting ??= []
  }

  open(): void {
    const waiting = this.#waiting ?? []
    this.#waiting = undefined
    for (const go of waiting) go()
  }

  pass(): Promise<void> | undefined {
    const waiting = this.#waiting
    return waiting && new Promise((resolve) => waiting.push(resolve))
  }
}

/** `onSent` sees a message when it is sent; what it returns is called when it was delivered. */
export function heldStore(
  inner: Store,
  onSent: (message: BusMessage) => (() => void) | undefined = () => undefined,
): HeldStore {
  const replies = new Map(operations.map((name) => [name, new Gate()]))
  const requests = new Map(operations.map((name) => [name, new Gate()]))
  const asked = new Map<Operation, number>()
  const scopes: { readonly onBus: (state: 'up' | 'down') => void }[] = []
  let heldMessages: (() => void)[] | undefined
  let lost = false
  const store = inner as StorePort
  const held: StorePort & HeldStore = {
    ...store,
    open(scope) {
      scopes.push(scope)
      const onMessage = (message: BusMessage): void => {
        if (lost) return
        const delivered = onSent(message)
        const deliver = (): void => {
          scope.onMessage(message)
          delivered?.()
        }
        if (heldMessages === undefined) deliver()
        else heldMessages.push(deliver)
      }
      const session = store.open({ ...scope, onMessage })
      const wrapped = Object.create(session) as Record<string, unknown>
      for (const name of [
        ...operations,
        'touch',
        'renew',
        'release',
        'beat',
        'epochs',
        'bump',
        'close',
      ] as const) {
        const run = session[name].bind(session) as (...args: unknown[]) => Promise<unknown>
        wrapped[name] = async (...args: unknown[]) => {
          const op = name as Operation
          asked.set(op, (asked.get(op) ?? 0) + 1)
          await requests.get(op)?.pass()
          const result = await run(...args)
          await replies.get(op)?.pass()
          return result
        }
      }
      return wrapped as unknown as StoreSession
    },
    holdReplies: (of) => replies.get(of)!.close(),
    holdRequests: (of) => requests.get(of)!.close(),
    releaseReplies: (of) => replies.get(of)!.open(),
    releaseRequests: (of) => requests.get(of)!.open(),
    holdBus: () => {
      heldMessages ??= []
    },
    releaseBus: () => {
      const messages = heldMessages ?? []
      heldMessages = undefined
      for (const deliver of messages) deliver()
    },
    asked: (of) => asked.get(of) ?? 0,
    loseBus: () => {
      lost = true
      for (const scope of scopes) scope.onBus('down')
    },
    regainBus: () => {
      lost = false
      for (const scope of scopes) scope.onBus('up')
    },
  }
  return held
}
