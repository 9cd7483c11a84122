import { createHash } from 'node:crypto'

/** What an over-long key becomes: SHA-256, in the alphabet that is safe everywhere. */
export function digest(text: string): string {
  return createHash('sha256').update(text).digest('base64url')
}
