/** Names for leases and fills, unique among all processes; not secrets. `id` is the cache's own. */
import type { Token } from '../ports.ts'

export function tokensOf(id: string): () => Token {
  let count = 0
  return () => id + (count++).toString(36).padStart(8, '0')
}
