/**
 * How a filter is cut into shards, each one string in Redis. An allocator rounds up: jemalloc, which
 * Redis brings, has four sizes between a power of two and the next. So the number of shards is the
 * smallest (of those that make them neither large nor tiny) by which little of that is wasted.
 */
import { bloomSize, type Geometry, type Wanted } from './bloom.ts'

const largest = 256 * 1024
const smallest = 16 * 1024
/** Of a key in Redis beyond the string itself: entry, object and name. */
const keyBytes = 136
/** Of a string: its own header, and a zero at its end. */
const stringBytes = 10
const enough = 0.01

export interface ShardedFilter extends Geometry {
  /** All that is needed, whatever it takes to keep them. */
  readonly bits: number
}

/** `overhead`: bytes of each shard that are not its bits. */
export function planShards(wanted: Wanted, overhead: number): ShardedFilter {
  const { bits, hashes } = bloomSize(wanted)
  const bytes = Math.ceil(bits / 8)
  const least = Math.ceil(bytes / largest)
  const most = Math.max(least, Math.min(4 * least + 16, Math.floor(bytes / smallest)))
  let best = { shards: least, cost: Infinity }
  for (let shards = least; shards <= most; shards++) {
    const each = Math.ceil(bytes / shards)
    const cost = shards * (allocated(each + overhead + stringBytes) + keyBytes)
    if (cost < best.cost) best = { shards, cost }
    if (best.cost <= bytes * (1 + enough)) break
  }
  return { shards: best.shards, shardBits: Math.ceil(bytes / best.shards) * 8, hashes, bits }
}

/** jemalloc's size class, above 128 bytes. */
function allocated(bytes: number): number {
  const step = 2 ** Math.max(4, Math.ceil(Math.log2(bytes)) - 3)
  return Math.ceil(bytes / step) * step
}
