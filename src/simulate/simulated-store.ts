/** The store port of one imagined process: every operation is a request over its link. */
import { port, type StorePort, type StoreScope, type StoreSession } from '../ports.ts'
import type { BusLink } from './bus-link.ts'
import type { CommandLink } from './command-link.ts'
import { Refused } from './refusing.ts'
import { operations, type Operation } from './server.ts'

export interface SimulatedStoreOptions {
  readonly hasBus: boolean
  readonly link: CommandLink
  readonly bus: BusLink
  opened(scope: StoreScope): void
  closed(): void
  /** Something was asked after the session was closed. */
  onMisuse(operation: Operation): void
  readonly wrap: ((session: StoreSession, scope: StoreScope) => Partial<StoreSession>) | undefined
}

export function simulatedStore(options: SimulatedStoreOptions): StorePort {
  const { hasBus, link, bus, opened, closed, onMisuse } = options
  return {
    [port]: 'store',
    open(scope) {
      opened(scope)
      let isClosed = false
      const session: Record<string, unknown> = {
        get ready() {
          return link.isUp
        },
        hasBus,
        fromReplica: false,
        isRefusal: (error: unknown) => error instanceof Refused,
        isReply: (error: unknown) => error instanceof Refused,
        received: () => link.received,
        reconnect: (what: 'commands' | 'bus') => (what === 'bus' ? bus : link).cut(),
        close: async () => {
          if (isClosed) return
          isClosed = true
          link.close()
          bus.close()
          closed()
        },
      }
      for (const operation of operations) {
        session[operation] = (...args: readonly unknown[]) => {
          if (isClosed) onMisuse(operation)
          return link.request(operation, args)
        }
      }
      link.connectLater()
      if (hasBus) bus.connectLater()
      const made = session as unknown as StoreSession
      return options.wrap === undefined
        ? made
        : Object.assign(made, options.wrap({ ...made }, scope))
    },
  }
}
