/**
 * A store and a bus in this process: caches opened on one memory store behave as processes on one
 * Redis. The rules are those of the Redis scripts (one conformance suite holds for both); time is
 * the session's clock, and nothing of it keeps a process alive.
 */
import { port, type Store, type StorePort } from '../ports.ts'
import { MemorySession } from './memory-session.ts'
import { MemorySpace } from './memory-space.ts'

/** For tests and for caches that share one process: two caches on one are as two processes. */
export function memoryStore(): Store {
  const spaces = new Map<string, MemorySpace>()
  const store: StorePort = {
    [port]: 'store',
    open(scope) {
      const space = spaces.get(scope.namespace) ?? new MemorySpace()
      spaces.set(scope.namespace, space)
      return new MemorySession(space, scope)
    },
  }
  return store
}
