/** Names for leases and fills, unique among all processes; not secrets. `id` is the cache's own. */
import type { Token } from '../ports.ts'

/** Of a cache's id, in characters. */
export const idLength = 14

export function tokensOf(id: string): () => Token {
  let count = 0
  return () => id + (count++).toString(36).padStart(8, '0')
}

/** The id of the cache that made it. */
export function makerOf(token: Token): string {
  return token.slice(0, idLength)
}
