/**
 * Whether leases may be evicted (T087): with a limit on memory, by every policy but `noeviction`, since
 * they expire. That costs a second load and nothing else; whoever runs the server may want to know.
 */
import type { RedisServer } from './commands.ts'

export class EvictionPolicy {
  readonly #onEviction: (policy: string) => void
  #hasAsked = false

  constructor(onEviction: (policy: string) => void) {
    this.#onEviction = onEviction
  }

  /** Once, when there is somebody to ask; a server that will not say has none. */
  ask([server]: readonly RedisServer[]): void {
    if (this.#hasAsked || server === undefined) return
    this.#hasAsked = true
    server.info('memory').then(
      (memory) => {
        const policy = /^maxmemory_policy:(\S+)/m.exec(memory)?.[1]
        const isLimited = !/^maxmemory:0\s*$/m.test(memory)
        if (isLimited && policy !== undefined && policy !== 'noeviction') this.#onEviction(policy)
      },
      () => {},
    )
  }
}
