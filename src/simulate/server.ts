/**
 * The imagined server of the shared tier. What it does with an operation are the rules of the memory
 * store, which hold one conformance suite with those of Redis; here it also freezes, dies, refuses
 * writes, forgets, and is replaced by a replica that lacks the last of what it did.
 */
import { MemorySession } from '../memory/memory-session.ts'
import { MemorySpace } from '../memory/memory-space.ts'
import { MemoryTags } from '../memory/memory-tags.ts'
import type { Beat, BusMessage, Clock, StoreScope, StoreSession } from '../ports.ts'
import type { Flaw } from './flaws.ts'
import { epoch } from './host.ts'
import { refusing, type Refusal } from './refusing.ts'
import type { Timeline } from './timeline.ts'

export const operations = [
  'read', 'readMany', 'acquire', 'publish', 'touch', 'renew', 'release', 'fail', 'invalidate', 'expire', 'write', 'want',
  'epochs', 'bump', 'tokens', 'beat',
] as const satisfies readonly (keyof StoreSession)[] // prettier-ignore
export type Operation = (typeof operations)[number]

/** What was done, in the order in which it was done. */
export interface Deed {
  readonly client: number
  readonly operation: Operation
  readonly args: readonly unknown[]
  /** The server's own time. */
  readonly at: number
  readonly now: number
  /** Refused: nothing was done. */
  refused: boolean
}

type Asked = Pick<Deed, 'client' | 'operation' | 'args'>

export interface ServerWatch {
  /** `answer` is what the server says; it has been done by then. */
  done(deed: Deed, answer: unknown): void
  refused(deed: Deed, why: Refusal | undefined): void
  /** A replica took over, which knows the first of these and not the second. */
  lost(kept: readonly Deed[], lost: readonly Deed[]): void
  emptied(): void
  evicted(what: 'frame' | 'lease', key: string): void
}

export interface ServerOptions {
  readonly timeline: Timeline
  readonly skewMs: number
  readonly watch: ServerWatch
  /** Told in the step in which the message is sent. */
  tell(client: number, message: BusMessage): void
  /** A server that breaks the protocol, by intent: what it does instead. */
  readonly wrong: Flaw['server']
  /** Whether what was done is remembered, for a replica. */
  readonly isReplicated: boolean
}

const gapMs = 0.001

export class Server {
  space = new MemorySpace()
  /** Changes with every server that takes over. */
  identity = 1
  refusal: Refusal | undefined
  readonly clock: Clock
  readonly #options: ServerOptions
  readonly #sessions = new Map<number, StoreSession>()
  readonly deeds: Deed[] = []
  #held: (() => void)[] | undefined
  /** Connections are refused. */
  isGone = false

  constructor(options: ServerOptions) {
    this.#options = options
    this.clock = {
      now: () => epoch + options.skewMs + options.timeline.now,
      random: () => 0,
      after: (ms, run) => options.timeline.after(ms, run),
    }
  }

  /** Since when nothing is answered, while that is so. */
  silentSince: number | undefined

  get isFrozen(): boolean {
    return this.#held !== undefined
  }

  freeze(): void {
    this.#held ??= []
    this.silentSince ??= this.#options.timeline.now
  }

  /** All that has come in meanwhile happens, in its order. */
  thaw(): void {
    const next = this.#held?.shift()
    if (next === undefined) {
      this.#held = undefined
      if (!this.isGone) this.silentSince = undefined
      return
    }
    next()
    // One at a time, and what comes in meanwhile is the last.
    this.#options.timeline.after(gapMs, () => this.thaw())
  }

  die(): void {
    this.isGone = true
    this.silentSince ??= this.#options.timeline.now
    this.#held = undefined
  }

  /** Empty, and another one than before. */
  begin(): void {
    this.isGone = false
    this.silentSince = undefined
    this.identity++
    this.#renew(new MemorySpace())
    this.deeds.length = 0
    this.#options.watch.emptied()
  }

  /** A replica takes over, which has not heard of the deeds from `from` on. */
  failOver(from: number): void {
    const kept = this.deeds.slice(0, from)
    const lost = this.deeds.splice(from)
    this.isGone = false
    this.silentSince = undefined
    this.#held = undefined
    this.identity++
    let time = 0
    const space = new MemorySpace()
    const replica = new MemorySession(
      space,
      scopeOf({ ...this.clock, now: () => time }, () => {}),
    )
    for (const { operation, args, at, refused } of kept) {
      if (refused) continue
      time = at
      void (replica[operation] as (...given: readonly unknown[]) => unknown)(...args)
    }
    void replica.close()
    this.#renew(space)
    this.#options.watch.lost(kept, lost)
  }

  evict(what: 'frame' | 'lease', key: string): void {
    this.space[what === 'frame' ? 'frames' : 'leases'].delete(key)
    this.#options.watch.evicted(what, key)
  }

  evictTags(): void {
    this.space.tags = new MemoryTags()
  }

  /** Its time comes now, or at the thaw. `answer` is told, or never. */
  receive(asked: Asked, answer: (result: Promise<unknown>) => void): void {
    if (this.isGone) return
    const run = (): void => answer(this.#do(asked))
    if (this.#held === undefined) run()
    else this.#held.push(run)
  }

  leave(client: number): void {
    void this.#sessions.get(client)?.close()
    this.#sessions.delete(client)
  }

  async #do({ client, operation, args }: Asked): Promise<unknown> {
    const { watch, timeline, isReplicated } = this.#options
    const session = this.#sessionOf(client)
    const at = this.clock.now()
    const deed: Deed = { client, operation, args, at, now: timeline.now, refused: false }
    // Done in this very step: the answer alone takes another.
    const answer = (session[operation] as (...given: readonly unknown[]) => Promise<unknown>)(
      ...args,
    )
    if (isReplicated && isWrite(operation)) this.deeds.push(deed)
    let result: unknown
    try {
      result = await answer
      deed.refused = isNoLease(result)
    } catch (error) {
      deed.refused = true
      watch.refused(deed, this.refusal)
      throw error
    }
    watch.done(deed, result)
    return operation === 'beat' ? { ...(result as Beat), server: String(this.identity) } : result
  }

  #sessionOf(client: number): StoreSession {
    let session = this.#sessions.get(client)
    if (session !== undefined) return session
    const { tell, wrong } = this.#options
    const scope = scopeOf(this.clock, (message) => tell(client, message))
    const right: StoreSession = new MemorySession(this.space, scope)
    const { space } = this
    const made =
      wrong === undefined ? right : layered(right, wrong(right, { space, clock: this.clock }))
    session = layered(
      made,
      refusing(made, space, () => this.refusal, this.clock),
    )
    this.#sessions.set(client, session)
    return session
  }

  /** Opens what its clients have, so that they hear what is told. */
  join(client: number): void {
    this.#sessionOf(client)
  }

  #renew(space: MemorySpace): void {
    for (const session of this.#sessions.values()) void session.close()
    this.#sessions.clear()
    this.space = space
  }
}

function isNoLease(result: unknown): boolean {
  return (result as { readonly type?: string } | undefined)?.type === 'nolease'
}

function isWrite(operation: Operation): boolean {
  return !['read', 'readMany', 'beat', 'epochs'].includes(operation)
}

function layered(base: StoreSession, over: Partial<StoreSession>): StoreSession {
  return Object.assign(Object.create(base) as StoreSession, bound(base), over)
}

/** Methods keep the object that they belong to. */
function bound(session: StoreSession): Partial<StoreSession> {
  const methods: Record<string, unknown> = {}
  for (const name of [...operations, 'close'] as const) {
    methods[name] = (session[name] as (...args: unknown[]) => unknown).bind(session)
  }
  return methods
}

function scopeOf(clock: Clock, onMessage: (message: BusMessage) => void): StoreScope {
  return {
    namespace: 'simulated',
    id: 'server________',
    clock,
    onMessage,
    onBus: () => {},
    onReady: () => {},
    onFault: () => {},
  }
}
