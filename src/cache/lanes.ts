/**
 * Which lane something goes by: that of the server which keeps it. A store of one server has one,
 * found without a question. In a cluster sites move: a server that is met later begins well, and
 * one that has lost its sites to others is forgotten.
 */
import { groupedBy } from '../core/parts-of.ts'
import type { Site, Shards } from '../ports.ts'
import type { Lane } from './lane.ts'

export interface LanesOptions {
  readonly shards: Shards | undefined
  make(server: string): Lane
  /** A server that was not there when it all began. */
  onNew(server: string, lane: Lane): void
}

export class Lanes {
  readonly #options: LanesOptions
  readonly #only: Lane | undefined
  readonly #byServer = new Map<string, Lane>()

  constructor(options: LanesOptions) {
    this.#options = options
    if (options.shards === undefined) this.#only = this.#add('')
  }

  at(site: Site): Lane {
    if (this.#only !== undefined) return this.#only
    const server = this.#options.shards!.serverOf(site)
    let lane = this.#byServer.get(server)
    if (lane === undefined) {
      lane = this.#add(server)
      this.#options.onNew(server, lane)
    }
    lane.site = site
    return lane
  }

  /** In parts that one server keeps. */
  parts<T>(items: readonly T[], siteOf: (item: T) => Site): readonly (readonly T[])[] {
    const { shards } = this.#options
    if (shards === undefined) return [items]
    return groupedBy(items, (item) => shards.serverOf(siteOf(item)))
  }

  /** Those that are known at the beginning. */
  begin(): void {
    for (const server of this.#options.shards?.servers() ?? []) {
      if (!this.#byServer.has(server)) this.#add(server)
    }
  }

  /** What of the store can be asked. */
  get up(): 'all' | 'some' | 'none' {
    const lanes = [...this.#byServer.values()]
    if (lanes.length > 0 && lanes.every(({ isUp }) => isUp)) return 'all'
    // Those alone that are there still: nobody has asked one that has left.
    const servers = this.#options.shards?.servers() ?? []
    return servers.some((server) => this.#byServer.get(server)?.isUp === true) ? 'some' : 'none'
  }

  /** How many cannot be asked now. */
  get down(): number {
    let down = 0
    for (const { isUp } of this.#byServer.values()) if (!isUp) down++
    return down
  }

  loseAll(error: unknown): void {
    for (const lane of this.#byServer.values()) lane.lose(error)
  }

  probeNow(): void {
    for (const lane of this.#byServer.values()) lane.probeNow()
  }

  /** It keeps nothing any more. */
  forget(server: string): void {
    this.#byServer.get(server)?.close()
    this.#byServer.delete(server)
  }

  close(): void {
    for (const lane of this.#byServer.values()) lane.close()
  }

  #add(server: string): Lane {
    const lane = this.#options.make(server)
    this.#byServer.set(server, lane)
    return lane
  }
}
