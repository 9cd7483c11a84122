/**
 * What one namespace of a memory store holds, and who listens to it. Messages are delivered later
 * (a microtask each), in the order in which they were sent, to every session.
 */
import { TokenBucket } from '../core/token-bucket.ts'
import type { BusMessage, StoreScope } from '../ports.ts'
import { ExpiringMap } from './expiring-map.ts'
import type { Lease } from './lease.ts'
import { MemoryTags } from './memory-tags.ts'

export class MemorySpace {
  readonly frames = new ExpiringMap<Uint8Array>()
  readonly leases = new ExpiringMap<Lease>()
  /** Replaced where a server that loses them is imagined. */
  tags = new MemoryTags()
  readonly #buckets = new Map<number, TokenBucket>()
  readonly #listeners = new Set<StoreScope>()

  join(scope: StoreScope): () => void {
    this.#listeners.add(scope)
    queueMicrotask(() => {
      if (this.#listeners.has(scope)) scope.onBus('up')
    })
    return () => {
      this.#listeners.delete(scope)
    }
  }

  /** All who name the same rate share it. */
  bucket(perSecond: number): TokenBucket {
    let bucket = this.#buckets.get(perSecond)
    if (bucket === undefined) this.#buckets.set(perSecond, (bucket = new TokenBucket(perSecond)))
    return bucket
  }

  /** To everyone, the sender too. */
  tell(message: BusMessage): void {
    for (const scope of this.#listeners) this.tellOne(scope, message)
  }

  tellTo(id: string, message: BusMessage): void {
    for (const scope of this.#listeners) if (scope.id === id) this.tellOne(scope, message)
  }

  tellOne(scope: StoreScope, message: BusMessage): void {
    const own =
      message.type === 'published' && message.frame !== undefined
        ? { ...message, frame: new Uint8Array(message.frame) }
        : message
    queueMicrotask(() => {
      if (this.#listeners.has(scope)) scope.onMessage(own)
    })
  }
}
