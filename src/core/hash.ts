/** FNV-1a and a finaliser: 32 bits of a text, in which neighbours that differ in one character lie apart. */
import { charCode } from './char-code.ts'

export function hashOf(text: string): number {
  let hash = 0x811c9dc5
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ charCode(text, i), 0x01000193)
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b)
  return Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35)
}
