/**
 * Writes text there and gives where it ends; up to three bytes for each of its units must
 * be free. For short text, for which a native call costs more.
 */
import { charCode } from '../core/char-code.ts'

export function utf8Into(memory: Uint8Array, start: number, text: string): number {
  let at = start
  for (let i = 0; i < text.length; i++) {
    let code = charCode(text, i)
    if (code < 0x80) {
      memory[at++] = code
      continue
    }
    if (code < 0x800) memory[at++] = 0xc0 | (code >> 6)
    else {
      code = text.codePointAt(i)!
      if (code < 0x10000) memory[at++] = 0xe0 | (code >> 12)
      else {
        i++
        memory[at++] = 0xf0 | (code >> 18)
        memory[at++] = 0x80 | ((code >> 12) & 0x3f)
      }
      memory[at++] = 0x80 | ((code >> 6) & 0x3f)
    }
    memory[at++] = 0x80 | (code & 0x3f)
  }
  return at
}
