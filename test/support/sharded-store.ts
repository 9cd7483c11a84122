// A store of several servers, each of which can be frozen by itself: `a1` is kept by `a`, `b1` by `b`,
// what is known of tags by `t`. Everything else is a memory store's.

import { port, type Site, type Store, type StorePort, type StoreSession } from '../../src/ports.ts'

export interface ShardedStore extends Store {
  /** What it is asked is taken, and happens when it is thawed. */
  freeze(server: string): void
  thaw(server: string): void
  /** Another server answers by this name, with the same data. */
  replace(server: string): void
  /** From now on another server keeps what this one has kept. */
  move(from: string, to: string): void
  /** Operations that have reached a server, frozen or not. */
  asked(server: string): number
}

/** Those that ask one site, and which. */
const sites: Partial<Record<keyof StoreSession, (args: unknown[]) => Site>> = {
  read: ([key]) => key as string,
  readMany: ([keys]) => (keys as string[])[0],
  invalidate: ([keys]) => (keys as string[])[0],
  expire: ([keys]) => (keys as string[])[0],
  epochs: () => undefined,
  bump: () => undefined,
}
for (const name of ['acquire', 'publish', 'touch', 'renew', 'release', 'fail', 'write'] as const) {
  sites[name] = ([request]) => (request as { key: string }).key
}

export function shardedStore(inner: Store, servers: readonly string[]): ShardedStore {
  const frozen = new Map<string, { readonly thawed: Promise<void>; thaw(): void }>()
  const moved = new Map<string, string>()
  const replaced = new Map<string, number>()
  const asked = new Map<string, number>()
  const serverOf = (site: Site): string => {
    // Of a resource's key, the part that the caller has named.
    const first = site === undefined ? 't' : site.slice(site.lastIndexOf(':') + 1)[0]!
    return moved.get(first) ?? first
  }
  const pass = async (server: string): Promise<void> => {
    asked.set(server, (asked.get(server) ?? 0) + 1)
    await frozen.get(server)?.thawed
  }
  const store: StorePort & ShardedStore = {
    [port]: 'store',
    open(scope) {
      const session = (inner as StorePort).open(scope)
      const wrapped: Record<string, unknown> = {
        ready: true,
        hasBus: session.hasBus,
        fromReplica: false,
        isRefusal: () => false,
        isReply: () => false,
        received: () => 0,
        reconnect: () => {},
        close: () => session.close(),
        shards: {
          servers: () => servers.map((name) => moved.get(name) ?? name),
          serverOf,
          ping: (site: Site) => pass(serverOf(site)),
          lastKnown: (server: string) => replaced.get(server) ?? 0,
          identify: async (server: string) => replaced.get(server) ?? 0,
          received: () => 0,
          reconnect: () => {},
        },
        // Through the tags' server where it is asked for news, else through none.
        beat: async (...args: Parameters<StoreSession['beat']>) => {
          const [n, request] = args
          if (request !== undefined) {
            void session.beat(n)
            await pass(serverOf(undefined))
          }
          return session.beat(n, request)
        },
      }
      for (const [name, siteOf] of Object.entries(sites)) {
        const run = session[name as 'read'].bind(session) as (...args: unknown[]) => unknown
        wrapped[name] = async (...args: unknown[]) => {
          await pass(serverOf(siteOf(args)))
          return run(...args)
        }
      }
      return wrapped as unknown as StoreSession
    },
    freeze: (server) => {
      let thaw = (): void => {}
      const thawed = new Promise<void>((resolve) => (thaw = resolve))
      frozen.set(server, { thawed, thaw })
    },
    thaw: (server) => {
      frozen.get(server)?.thaw()
      frozen.delete(server)
    },
    replace: (server) => void replaced.set(server, (replaced.get(server) ?? 0) + 1),
    move: (from, to) => void moved.set(from, to),
    asked: (server) => asked.get(server) ?? 0,
  }
  return store
}
