/** The id of a cache, or of whoever looks into one: random, so that no two are the same. */
import { randomBytes } from 'node:crypto'
import { idLength } from './cache/tokens.ts'

export function newId(): string {
  return randomBytes(11).toString('base64url').slice(0, idLength)
}
