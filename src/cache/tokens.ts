/** Names for caches, leases and fills, unique among all processes; not secrets. */
import { randomBytes } from 'node:crypto'
import type { Token } from '../ports.ts'

export function tokens(): { id: string; newToken(): Token } {
  const id = randomBytes(10).toString('base64url').padEnd(14, '0').slice(0, 14)
  let count = 0
  return { id, newToken: () => id + (count++).toString(36).padStart(8, '0') }
}
