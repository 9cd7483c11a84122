/**
 * The server's own history, kept beside it by other code: who holds which lease, what stands there,
 * and what was accepted that should not have been (I1: one live lease per key; I2: a publish only
 * under the publisher's own lease, with nothing invalidated since). It also says which changes there
 * were.
 */
import type {
  Acquired,
  AcquireRequest,
  BumpRequest,
  Published,
  PublishRequest,
  Renewed,
  TouchRequest,
  WriteRequest,
} from '../ports.ts'
import type { Changes, ChangeKind } from './changes.ts'
import { originOf } from './origin-of.ts'
import type { Refusal } from './refusing.ts'
import type { Deed, ServerWatch } from './server.ts'
import type { Row, Source } from './source.ts'
import { rowsOf } from './rows-of.ts'
import type { Verdict } from './verdict.ts'

interface Held {
  readonly token: string
  readonly until: number
}

export class Ledger implements ServerWatch {
  readonly #source: Source
  readonly #changes: Changes
  readonly #verdict: Verdict
  readonly #leases = new Map<string, Held>()
  readonly #frames = new Map<string, Held>()
  /** When a key was last invalidated or written. */
  readonly #goneAt = new Map<string, number>()
  readonly grants = new Map<number, number>()
  readonly #answers = new WeakMap<Deed, unknown>()
  #isReplaying = false

  constructor(source: Source, changes: Changes, verdict: Verdict) {
    this.#source = source
    this.#changes = changes
    this.#verdict = verdict
  }

  done(deed: Deed, answer: unknown): void {
    this.#answers.set(deed, answer)
    switch (deed.operation) {
      case 'acquire':
        return this.#acquired(deed, deed.args[0] as AcquireRequest, answer as Acquired)
      case 'publish':
        return this.#published(deed, deed.args[0] as PublishRequest, answer as Published)
      case 'touch':
        return this.#touched(deed, deed.args[0] as TouchRequest, answer as string)
      case 'renew':
        return this.#renewed(deed, deed.args[0] as Renewal, answer as Renewed)
      case 'release':
      case 'fail': {
        const { key, token } = deed.args[0] as Held & { key: string }
        if (this.#isMine(key, token, deed.at)) this.#leases.delete(key)
        return
      }
      case 'invalidate':
      case 'expire':
        return this.#changed(deed, deed.args[0] as readonly string[])
      case 'write':
        return this.#written(deed, deed.args[0] as WriteRequest, answer as string)
      case 'bump':
        return this.#bumped(deed, deed.args[0] as BumpRequest)
      case 'read':
      case 'readMany':
      case 'epochs':
      case 'tokens':
      case 'want':
      case 'beat':
    }
  }

  /** Out of memory: the frame was not taken, and the lease has ended all the same. */
  refused(deed: Deed, why: Refusal | undefined): void {
    if (deed.operation !== 'publish' || why !== 'OOM') return
    const { key, token } = deed.args[0] as PublishRequest
    if (this.#isMine(key, token, deed.at)) this.#leases.delete(key)
  }

  lost(kept: readonly Deed[], lost: readonly Deed[]): void {
    this.emptied()
    this.#isReplaying = true
    for (const deed of kept) if (!deed.refused) this.done(deed, this.#answers.get(deed))
    this.#isReplaying = false
    const gone = new Set(lost)
    for (const change of this.#changes.all) if (gone.has(change.deed)) change.isLost = true
    this.#verdict.count('deeds lost', lost.length)
  }

  emptied(): void {
    this.#leases.clear()
    this.#frames.clear()
    this.#goneAt.clear()
  }

  evicted(what: 'frame' | 'lease', key: string): void {
    ;(what === 'frame' ? this.#frames : this.#leases).delete(key)
  }

  #acquired({ client, at, now }: Deed, request: AcquireRequest, answer: Acquired): void {
    const { key, token, mode, leaseMs, seen } = request
    if (answer.type === 'value' && (seen === 'unreadable' || mode === 'force'))
      this.#wrong('I6', now, `p${client} ${key}: a value for who had found it unreadable`)
    // A lease that has ended is nobody's: else one who crashed would have wedged the key.
    if (answer.type === 'wait' && this.#live(key, at) === undefined)
      this.#wrong('I4', now, `p${client} ${key}: waits for ${answer.token}, whose lease has ended`)
    if (answer.type !== 'lease') return
    const other = this.#live(key, at)
    if (other !== undefined && other.token !== token && mode !== 'force') {
      this.#wrong('I1', now, `p${client} ${key}: ${token} got the lease that ${other.token} holds`)
    }
    this.#leases.set(key, { token, until: at + leaseMs })
    if (this.#isReplaying) return
    this.grants.set(client, (this.grants.get(client) ?? 0) + 1)
    this.#verdict.count('leases')
  }

  #published(deed: Deed, request: PublishRequest, answer: Published): void {
    const { client, at, now } = deed
    const { key, token, frame, lifeMs } = request
    if (answer === 'fenced') return this.#verdict.count('fenced')
    this.#mustBeMine(deed, key, token, 'published')
    const origin = originOf(this.#source, frame)
    const goneAt = this.#goneAt.get(key) ?? -Infinity
    if (origin !== undefined && origin.asOf < goneAt) {
      const text = `p${client} ${key}: a load of ${origin.asOf} was stored after ${goneAt}`
      this.#wrong('I2', now, text)
    }
    if (answer === 'ok') this.#frames.set(key, { token, until: at + lifeMs })
    this.#leases.delete(key)
    if (!this.#isReplaying) this.#verdict.count('published')
  }

  #touched(deed: Deed, { key, token, lifeMs }: TouchRequest, answer: string): void {
    if (answer !== 'ok') return
    this.#mustBeMine(deed, key, token, 'renewed a frame')
    this.#frames.set(key, { token, until: deed.at + lifeMs })
    this.#leases.delete(key)
  }

  #renewed({ client, at, now }: Deed, { key, token, leaseMs }: Renewal, answer: Renewed): void {
    if (answer === 'lost') return
    if (!this.#isMine(key, token, at))
      this.#wrong('I1', now, `p${client} ${key}: ${token} renewed a lease that it does not hold`)
    this.#leases.set(key, { token, until: at + leaseMs })
  }

  #changed(deed: Deed, keys: readonly string[]): void {
    const isGone = deed.operation === 'invalidate'
    for (const key of keys) {
      this.#leases.delete(key)
      if (!isGone) continue
      this.#frames.delete(key)
      this.#goneAt.set(key, deed.now)
    }
    const rows = keys.map((key) => this.#source.byKey.get(key)!)
    this.#made(deed, isGone ? 'gone' : 'expired', rows)
  }

  #written(deed: Deed, request: WriteRequest, answer: string): void {
    const { client, at, now } = deed
    const { key, stamp, lifeMs, notAfter, frame } = request
    if (answer === 'late') return
    if (at > notAfter) this.#wrong('I2', now, `p${client} ${key}: written after ${notAfter}`)
    this.#leases.delete(key)
    this.#goneAt.set(key, now)
    if (answer === 'ok') this.#frames.set(key, { token: stamp, until: at + lifeMs })
    const origin = originOf(this.#source, frame)
    if (origin !== undefined) origin.asOf = Math.max(origin.asOf, now)
    this.#made(deed, 'gone', [this.#source.byKey.get(key)!])
  }

  #bumped(deed: Deed, { kind, labels }: BumpRequest): void {
    if (kind !== 'settle') this.#made(deed, kind, rowsOf(this.#source, labels))
  }

  #made(deed: Deed, kind: ChangeKind, rows: readonly Row[]): void {
    if (this.#isReplaying) return
    const { now, client } = deed
    const told = { isLost: false, confirmedTo: undefined }
    this.#changes.made({ kind, at: now, deed, sender: client, rows, ...told })
  }

  /** Or it has been stored already: asked for again by a client that lost the answer. */
  #mustBeMine({ client, at, now }: Deed, key: string, token: string, what: string): void {
    if (this.#isMine(key, token, at) || this.#frames.get(key)?.token === token) return
    const holder = this.#live(key, at)?.token ?? 'nobody'
    this.#wrong('I2', now, `p${client} ${key}: ${token} ${what}, the lease is of ${holder}`)
  }

  #wrong(invariant: 'I1' | 'I2' | 'I4' | 'I6', now: number, text: string): void {
    if (!this.#isReplaying) this.#verdict.violated(invariant, now, text)
  }

  #live(key: string, at: number): Held | undefined {
    const held = this.#leases.get(key)
    return held !== undefined && at < held.until ? held : undefined
  }

  #isMine(key: string, token: string, at: number): boolean {
    return this.#live(key, at)?.token === token
  }
}

interface Renewal {
  readonly key: string
  readonly token: string
  readonly leaseMs: number
}
