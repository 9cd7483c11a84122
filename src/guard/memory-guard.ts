/**
 * The guard of one process. Ordinary Bloom semantics (Bloom 1970), except that one which was never
 * filled refuses nothing: an application that has not begun to feed it yet would refuse all.
 */
import { randomBytes } from 'node:crypto'
import { BitShards } from '../core/bit-shards.ts'
import { planShards } from '../core/bloom-shards.ts'
import { expectedErrorRate } from '../core/bloom.ts'
import { sipHashText, sipKey, type Digest } from '../core/siphash.ts'
import { port, type GuardPort } from '../ports.ts'
import { batchesOf } from './each-of.ts'
import type { GuardInfo } from './guard-info.ts'
import type { Wanted } from './guard-options.ts'
import { inTurn } from './in-turn.ts'
import { keepMs, RecentAdds } from './recent-adds.ts'
import { systemClock } from '../system-clock.ts'

const batch = 4_096

interface Filter {
  readonly bits: BitShards
  added: number
}

export class MemoryGuard<Arg> implements GuardPort<Arg> {
  readonly [port] = 'guard'
  readonly #wanted: Wanted<Arg>
  readonly #key = sipKey(randomBytes(16))
  readonly #digest: Digest = new Uint32Array(4)
  readonly #inTurn = inTurn()
  #filter: Filter
  /** What `rebuild` makes. Additions go into both. */
  #next: Filter | undefined
  readonly #recent = new RecentAdds()
  /** Something that fills it is done. */
  #done = false
  /** Of the calls that fill it, those that run and began before it was filled. */
  #firsts = 0

  constructor(wanted: Wanted<Arg>) {
    this.#wanted = wanted
    this.#filter = this.#empty()
  }

  know(arg: Arg): boolean {
    if (!this.#isFilled()) return true
    try {
      return this.#filter.bits.has(this.#hash(this.#wanted.text(arg)))
    } catch {
      return true // no key: whoever loads it tells the caller
    }
  }

  async ask(arg: Arg): Promise<boolean> {
    return this.know(arg)
  }

  async add(arg: Arg): Promise<void> {
    this.#put(arg)
    this.#done = true
  }

  async addMany(args: Iterable<Arg> | AsyncIterable<Arg>): Promise<void> {
    let some = false
    await this.#asFirst(async () => {
      for await (const each of batchesOf(args, batch)) {
        some = true
        for (const arg of each) this.#put(arg)
      }
      return some
    })
  }

  rebuild(all: Iterable<Arg> | AsyncIterable<Arg>): Promise<void> {
    return this.#inTurn(() =>
      this.#asFirst(async () => {
        const next = (this.#next = this.#empty())
        // Who adds before it commits may commit after `all` was read.
        for (const text of this.#recent.since(systemClock.now() - keepMs)) {
          this.#putInto(next, this.#hash(text))
        }
        try {
          for await (const each of batchesOf(all, batch)) {
            for (const arg of each) this.#putInto(next, this.#hash(this.#wanted.text(arg)))
          }
          this.#filter = next
          return true
        } finally {
          this.#next = undefined
        }
      }),
    )
  }

  info(): GuardInfo {
    const { bits, added } = this.#filter
    return {
      kind: 'memory',
      state: this.#isFilled() ? 'ready' : this.#firsts > 0 ? 'building' : 'unbuilt',
      added,
      capacity: this.#wanted.capacity,
      bytes: bits.bytes,
      errorRate: this.#isFilled() ? expectedErrorRate(bits.geometry, added) : 1,
    }
  }

  /** What fills it; until the first of these are done it is half filled, and refuses nothing. */
  async #asFirst(fill: () => Promise<boolean>): Promise<void> {
    const isFirst = !this.#isFilled()
    if (isFirst) this.#firsts += 1
    try {
      if (await fill()) this.#done = true
    } finally {
      if (isFirst) this.#firsts -= 1
    }
  }

  #isFilled(): boolean {
    return this.#done && this.#firsts === 0
  }

  #empty(): Filter {
    return { bits: new BitShards(planShards(this.#wanted, 0)), added: 0 }
  }

  #put(arg: Arg): void {
    const text = this.#wanted.text(arg)
    this.#recent.add(text, systemClock.now())
    const digest = this.#hash(text)
    this.#putInto(this.#filter, digest)
    if (this.#next !== undefined) this.#putInto(this.#next, digest)
  }

  #putInto(filter: Filter, digest: Digest): void {
    if (filter.bits.add(digest)) filter.added += 1
  }

  #hash(text: string): Digest {
    return sipHashText(text, this.#key, this.#digest)
  }
}
