// What a cache, or a bare part that caches are made of, must do to be measured: one narrow
// interface, one file per contender. An adapter sets its cache up as that cache's own documentation
// advises, with its default serializer, and adds nothing of its own but the key.

export type Id = string | number

/** Values are plain JSON data, since that is what most caches keep. */
export interface Item {
  readonly id: Id
}

/** `both`: as the documentation would have a cache set up that several processes share. */
export type Tiers = 'memory' | 'redis' | 'both'

/** The major of the Redis client. */
export type ClientName = 'ioredis5' | 'ioredis6' | 'redis5'

/**
 * How a bare client's values are coded. `codec` is breakwater's own default; `msgpackr` is the same
 * bytes without its checks; `JSON` is what most of the caches do.
 */
export type BareCodec = 'codec' | 'msgpackr' | 'JSON'

export interface Setting {
  /** A contender with one tier is never asked for `both`. */
  readonly tiers: Tiers
  /** Of Redis; not used with `memory`. */
  readonly url: string
  /** How long a value is fresh: whole seconds, since not every cache knows less. */
  readonly ttlMs: number
  /** How long it is served stale after that, where the cache can. 0: not at all. */
  readonly staleMs: number
  readonly maxEntries: number
  /** A pause of a busy machine must not turn a read into a load. Otherwise timeouts are defaults. */
  readonly patient: boolean
  load(id: Id): Promise<Item>
}

export interface Opened {
  /** From the cache, else loaded and kept. */
  get(id: Id): Item | Promise<Item>
  /** Only where the cache has one; order as asked. */
  getMany?(ids: readonly Id[]): Promise<readonly (Item | undefined)[]>
  /** Only where the cache has one. */
  set?(id: Id, item: Item): Promise<unknown>
  close(): Promise<unknown>
}

export interface Contender {
  readonly name: string
  /** Undefined: it has no Redis tier. */
  readonly client: ClientName | undefined
  /** Memory and Redis at once, or only one of them. */
  readonly twoTiers: boolean
  /** Can it answer with a value whose ttl has passed, and refresh behind it? */
  readonly servesStale: boolean
  open(setting: Setting): Promise<Opened>
}
