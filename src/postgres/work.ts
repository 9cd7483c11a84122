/**
 * What is to be done in the cache, without duplicates: the stronger verb of two on one key wins, and
 * a whole definition swallows its keys. Bounded: over the bound, the definitions of the tables that
 * it came from go as a whole.
 */
import type { Cache } from '../api.ts'
import type { ChangeAction, Changeable, KeyVerb, TagVerb } from './actions.ts'
import type { TableChanges } from './table.ts'

export type Whole = Changeable | Cache

export interface KeyWork {
  readonly arg: unknown
  readonly what: KeyVerb
}

const strength: Readonly<Record<KeyVerb, number>> = { refresh: 0, expire: 0, invalidate: 1 }

export class Work {
  readonly whole = new Set<Whole>()
  readonly keys = new Map<Changeable, Map<string, KeyWork>>()
  readonly tags = new Map<string, TagVerb>()
  readonly refreshes = new Map<Changeable, Map<string, unknown>>()
  readonly #tables = new Set<TableChanges>()
  /** Row changes that it came from. */
  changes = 0
  #size = 0

  get isEmpty(): boolean {
    return this.#size === 0 && this.whole.size === 0
  }

  get size(): number {
    return this.#size + this.whole.size
  }

  add(action: ChangeAction, table: TableChanges): void {
    this.#tables.add(table)
    switch (action.of) {
      case 'all':
        this.addWhole(action.target)
        break
      case 'tags':
        for (const tag of action.tags) this.#addTag(tag, action.what)
        break
      case 'key':
        this.#addKey(action.target, action.target.key(action.arg as never), action)
    }
  }

  addWhole(whole: Whole): void {
    this.whole.add(whole)
    this.#size -= this.keys.get(whole as Changeable)?.size ?? 0
    this.keys.delete(whole as Changeable)
  }

  /** What came later is put on top. */
  absorb(later: Work): void {
    for (const table of later.#tables) this.#tables.add(table)
    for (const whole of later.whole) this.addWhole(whole)
    for (const [target, keys] of later.keys) {
      for (const [key, work] of keys) this.#addKey(target, key, work)
    }
    for (const [tag, what] of later.tags) this.#addTag(tag, what)
    for (const [target, keys] of later.refreshes) {
      for (const [key, arg] of keys) this.#addRefresh(target, key, arg)
    }
    this.changes += later.changes
  }

  /** The tables that go as a whole now, since there is too much of theirs. */
  bound(most: number): readonly TableChanges[] {
    if (this.#size <= most) return []
    const tables = [...this.#tables]
    this.#size = 0
    this.keys.clear()
    this.tags.clear()
    this.refreshes.clear()
    this.#tables.clear()
    for (const { affects } of tables) for (const whole of affects) this.addWhole(whole)
    return tables
  }

  #addKey(target: Changeable, key: string, { arg, what }: KeyWork): void {
    if (what === 'refresh') this.#addRefresh(target, key, arg)
    if (this.whole.has(target)) return
    let keys = this.keys.get(target)
    if (keys === undefined) this.keys.set(target, (keys = new Map()))
    const before = keys.get(key)
    if (before === undefined) this.#size++
    if (before === undefined || strength[what] > strength[before.what]) keys.set(key, { arg, what })
  }

  #addRefresh(target: Changeable, key: string, arg: unknown): void {
    let keys = this.refreshes.get(target)
    if (keys === undefined) this.refreshes.set(target, (keys = new Map()))
    keys.set(key, arg)
  }

  #addTag(tag: string, what: TagVerb): void {
    const before = this.tags.get(tag)
    if (before === undefined) this.#size++
    if (before !== 'invalidate') this.tags.set(tag, what)
  }
}
