/**
 * node-redis 5 learns of a failover from a MOVED alone, and sends all that would bring one to the
 * lost master. Any other node brings it, when it is asked for a key that is not its own.
 * Version 6 finds out by itself.
 */
import type { ClusterClient, Word } from './node-redis-client.ts'
import { asBytes } from './node-redis-keyed.ts'

const patienceMs = 1_000

export class AskAround {
  /** One that the user's permissions cover. */
  key: Word | undefined
  readonly #cluster: ClusterClient
  #asking = false
  #firstAt: number | undefined

  constructor(cluster: ClusterClient) {
    this.#cluster = cluster
  }

  ask(): void {
    const { key } = this
    if (this.#asking || key === undefined) return
    // A client that has just begun is still connecting its nodes; and one that is ended while it asks
    // who is there makes connections which nobody ends.
    this.#firstAt ??= performance.now()
    if (performance.now() - this.#firstAt < patienceMs) return
    if (!this.#cluster.masters.some(({ client }) => client?.isReady === true)) return
    this.#asking = true
    // Nothing waits long in the queue of a node that is gone.
    const options = { ...asBytes, timeout: 1_000 }
    // In the same slot, and not there: whose answer it is, it is short.
    const absent = typeof key === 'string' ? `${key}?` : Buffer.concat([key, Buffer.from('?')])
    // Without a key to go by, each goes to the next node.
    const asked = this.#cluster.masters.map(() =>
      this.#cluster.sendCommand(undefined, false, ['GET', absent], options),
    )
    void Promise.allSettled(asked).then(() => (this.#asking = false))
  }
}
