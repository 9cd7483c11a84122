/** One cache's session with a memory store: each operation is one step that nothing interrupts. */
import type { Tokens } from '../core/token-bucket.ts'
import type {
  Acquired,
  AcquireRequest,
  Beat,
  Bumped,
  BumpRequest,
  EpochNews,
  EpochsRequest,
  FailRequest,
  Published,
  PublishRequest,
  ReleaseReason,
  Renewed,
  StoreScope,
  StoreSession,
  Token,
  TokensRequest,
  TouchRequest,
  WriteRequest,
} from '../ports.ts'
import { expireFrame, isNewer, stampOf, withHead } from './frame-bytes.ts'
import { contend, type Lease } from './lease.ts'
import type { MemorySpace } from './memory-space.ts'

/** As in Redis: a bigger value is read by those who wait. */
const pushedBytes = 1_024
const minCollectMs = 1_000

export class MemorySession implements StoreSession {
  readonly ready = true
  readonly hasBus = true
  readonly fromReplica = false
  readonly #space: MemorySpace
  readonly #scope: StoreScope
  readonly #leave: () => void

  constructor(space: MemorySpace, scope: StoreScope) {
    this.#space = space
    this.#scope = scope
    this.#leave = space.join(scope)
  }

  async read(key: string): Promise<Uint8Array | undefined> {
    return copy(this.#space.frames.get(key, this.#now()))
  }

  async readMany(keys: readonly string[]): Promise<readonly (Uint8Array | undefined)[]> {
    const now = this.#now()
    return keys.map((key) => copy(this.#space.frames.get(key, now)))
  }

  async acquire(request: AcquireRequest): Promise<Acquired> {
    const { key, leaseMs, seen, mode } = request
    const { frames, leases } = this.#space
    const now = this.#now()
    if (mode !== 'force' && seen !== 'unreadable') {
      const frame = frames.get(key, now)
      const stamp = stampOf(frame)
      if (stamp !== undefined && stamp !== seen) return { type: 'value', frame: copy(frame)! }
    }
    const leaseUntil = leases.until(key, now) ?? now
    const { answer, next } = contend(request, leases.get(key, now), { leaseUntil, now })
    if (next !== undefined) {
      leases.set(key, next.lease, next.restart ? now + leaseMs : leaseUntil, now)
    }
    return answer
  }

  async publish({ key, token, frame, lifeMs }: PublishRequest): Promise<Published> {
    const now = this.#now()
    const lease = this.#mine(key, token, now)
    const old = this.#space.frames.get(key, now)
    if (lease === undefined) {
      if (stampOf(old) === token) return 'ok'
      const gone = this.#space.leases.get(key, now) === undefined
      if (gone) this.#space.tell({ type: 'released', key, token, why: 'unstorable' })
      return 'fenced'
    }
    if (isNewer(old)) {
      if (frame.length <= pushedBytes) this.#handOver(key, lease, frame, now)
      else this.#giveUp(key, lease, 'unstorable', now)
      return 'kept'
    }
    this.#space.frames.set(key, new Uint8Array(frame), now + lifeMs, now)
    this.#handOver(key, lease, frame, now)
    return 'ok'
  }

  async touch(request: TouchRequest): Promise<'ok' | 'fenced' | 'gone'> {
    const { key, token, seen, head, lifeMs } = request
    const now = this.#now()
    const lease = this.#mine(key, token, now)
    const old = this.#space.frames.get(key, now)
    if (lease === undefined) return stampOf(old) === token ? 'ok' : 'fenced'
    if (old === undefined || stampOf(old) !== seen) return 'gone'
    const frame = withHead(head, old)
    this.#space.frames.set(key, frame, now + lifeMs, now)
    this.#handOver(key, lease, frame, now)
    return 'ok'
  }

  async renew(request: { key: string; token: Token; leaseMs: number }): Promise<Renewed> {
    const now = this.#now()
    const lease = this.#mine(request.key, request.token, now)
    if (lease === undefined) return 'lost'
    this.#space.leases.set(request.key, lease, now + request.leaseMs, now)
    return lease.awaitedUntil > now ? 'awaited' : 'alone'
  }

  async release(request: { key: string; token: Token; why: ReleaseReason }): Promise<void> {
    const now = this.#now()
    const lease = this.#mine(request.key, request.token, now)
    if (lease !== undefined) this.#giveUp(request.key, lease, request.why, now)
  }

  async fail({ key, token, error, backoffMs }: FailRequest): Promise<void> {
    const now = this.#now()
    const lease = this.#mine(key, token, now)
    if (lease === undefined) return
    const collectUntil = now + Math.max(minCollectMs, backoffMs)
    const failure = { token, error, collectUntil, backoffUntil: now + backoffMs }
    const marker = { holder: undefined, awaitedUntil: 0, failure }
    this.#space.leases.set(key, marker, collectUntil, now)
    if (lease.awaitedUntil > now) this.#space.tell({ type: 'failed', key, token, error, backoffMs })
  }

  async invalidate(keys: readonly string[], id: Token): Promise<void> {
    for (const key of keys) {
      this.#space.frames.delete(key)
      this.#space.leases.delete(key)
      this.#space.tell({ type: 'invalidated', key, id })
    }
  }

  async expire(keys: readonly string[], id: Token): Promise<void> {
    const { frames, leases } = this.#space
    const now = this.#now()
    for (const key of keys) {
      leases.delete(key)
      const frame = frames.get(key, now)
      const usableUntil = frame && expireFrame(frame, now)
      if (frame === undefined || usableUntil === undefined) {
        frames.delete(key)
        this.#space.tell({ type: 'invalidated', key, id })
      } else {
        frames.set(key, frame, Math.min(usableUntil, frames.until(key, now)!), now)
        this.#space.tell({ type: 'expired', key, id })
      }
    }
  }

  async write(request: WriteRequest): Promise<'ok' | 'late' | 'kept'> {
    const { key, frame, lifeMs, stamp, notAfter } = request
    const { frames, leases } = this.#space
    const now = this.#now()
    if (now > notAfter) return 'late'
    const newer = isNewer(frames.get(key, now))
    if (!newer) frames.set(key, new Uint8Array(frame), now + lifeMs, now)
    leases.delete(key)
    this.#space.tell({ type: 'written', key, id: stamp })
    return newer ? 'kept' : 'ok'
  }

  async want(key: string, id: Token): Promise<void> {
    this.#space.tell({ type: 'wanted', key, id })
  }

  async rollCall(): Promise<void> {
    this.#space.tell({ type: 'rollCall', id: this.#scope.id })
  }

  async present(to: string, text: string): Promise<void> {
    this.#space.tellTo(to, { type: 'present', id: this.#scope.id, text })
  }

  isReply(): boolean {
    return false
  }

  isRefusal(): boolean {
    return false
  }

  received(): number {
    return 0
  }

  reconnect(): void {
    // Nothing here can be dead without knowing it.
  }

  async epochs(request: EpochsRequest): Promise<EpochNews> {
    return this.#space.tags.epochs(request, this.#now())
  }

  async bump(request: BumpRequest): Promise<Bumped> {
    const bumped = this.#space.tags.bump(request, this.#now())
    const { id, kind, labels } = request
    this.#space.tell({ type: 'bumped', id, kind, labels: [...labels], ...bumped })
    return bumped
  }

  async tokens({ wanted, perSecond }: TokensRequest): Promise<Tokens> {
    return this.#space.bucket(perSecond).take(wanted, this.#now())
  }

  async beat(n: number, asked?: EpochsRequest): Promise<Beat> {
    this.#space.tellOne(this.#scope, { type: 'beat', n, through: 'memory' })
    const now = this.#now()
    return {
      time: now,
      server: 'memory',
      sent: [{ through: 'memory', taken: Promise.resolve(true) }],
      news: Promise.resolve(asked && this.#space.tags.epochs(asked, now)),
    }
  }

  async close(): Promise<void> {
    this.#leave()
  }

  #now(): number {
    return this.#scope.clock.now()
  }

  #mine(key: string, token: Token, now: number): Lease | undefined {
    const lease = this.#space.leases.get(key, now)
    return lease?.holder === token ? lease : undefined
  }

  /** Ends the lease; a small value goes to those who wait with the message. */
  #handOver(key: string, lease: Lease, frame: Uint8Array, now: number): void {
    this.#space.leases.delete(key)
    if (lease.awaitedUntil <= now) return
    const small = frame.length <= pushedBytes ? frame : undefined
    this.#space.tell({ type: 'published', key, token: lease.holder!, frame: small })
  }

  #giveUp(key: string, lease: Lease, why: ReleaseReason, now: number): void {
    this.#space.leases.delete(key)
    if (lease.awaitedUntil <= now) return
    this.#space.tell({ type: 'released', key, token: lease.holder!, why })
  }
}

function copy(frame: Uint8Array | undefined): Uint8Array | undefined {
  return frame && new Uint8Array(frame)
}
