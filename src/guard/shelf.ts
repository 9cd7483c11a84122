/** How the shards of an epoch are kept in Redis: as bitmaps, or as filters of its Bloom module. */
import type { Digest } from '../core/siphash.ts'
import type { EpochView } from './epoch-view.ts'

/** `lost`: the shard is not (or not wholly) there any more, and never comes back in this epoch. */
/** How many additions a shard has had, `lost`, or `undefined` where it was not told on the way. */
export type Count = number | undefined

export type Asked = 'lost' | { readonly has: boolean; readonly count: Count }

export const lost = -1

export interface Shelf {
  ask(view: EpochView, shard: number, digest: Digest): Promise<Asked>
  /** Never makes a shard that is not there. */
  put(view: EpochView, shard: number, digests: readonly Digest[]): Promise<Count>
  count(view: EpochView, shard: number): Promise<Count>
  /** For at most `lifeMs`. */
  create(view: EpochView, shard: number, lifeMs: number): Promise<void>
}
