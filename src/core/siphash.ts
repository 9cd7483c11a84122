/**
 * SipHash-1-3 with 128 bits (Aumasson & Bernstein 2012, and the reference code's `hashlen` 16), over
 * UTF-8. Keyed, so that nobody who does not know the key can make texts that collide: the
 * multicollisions of MurmurHash hold for every seed. A 64-bit word is two halves, low and high.
 */
import { charCode } from './char-code.ts'

export interface SipKey {
  readonly low0: number
  readonly high0: number
  readonly low1: number
  readonly high1: number
}

/** 16 bytes, as the reference code reads them. */
export function sipKey(bytes: Uint8Array): SipKey {
  if (bytes.length !== 16) throw new RangeError(`key: expected 16 bytes, got ${bytes.length}`)
  return {
    low0: wordAt(bytes, 0),
    high0: wordAt(bytes, 4),
    low1: wordAt(bytes, 8),
    high1: wordAt(bytes, 12),
  }
}

/** What a text becomes: four words of 32 bits, in the order of the reference code's 16 bytes. */
export type Digest = Uint32Array

// For all calls: nothing here ever waits in between.
let scratch = new Uint8Array(1_024)
const encoder = new TextEncoder()

/** Into `out`, so that nothing is allocated. */
export function sipHashText(text: string, key: SipKey, out: Digest): Digest {
  if (text.length * 3 > scratch.length) scratch = new Uint8Array(text.length * 6)
  return sipHash(scratch, utf8(text), key, out)
}

/**
 * Of the first `length` bytes. The round stands in it once, in a loop over the blocks and then the
 * two endings of three rounds, so that the state stays in the machine's registers.
 */
export function sipHash(bytes: Uint8Array, length: number, key: SipKey, out: Digest): Digest {
  let v0l = key.low0 ^ 0x70736575
  let v0h = key.high0 ^ 0x736f6d65
  let v1l = key.low1 ^ 0x6e646f6d ^ 0xee
  let v1h = key.high1 ^ 0x646f7261
  let v2l = key.low0 ^ 0x6e657261
  let v2h = key.high0 ^ 0x6c796765
  let v3l = key.low1 ^ 0x79746573
  let v3h = key.high1 ^ 0x74656462
  const whole = length & ~7
  const blocks = (whole >>> 3) + 1
  for (let step = 0; step < blocks + 6; step++) {
    let low = 0
    let high = 0
    if (step < blocks - 1) {
      low = wordAt(bytes, step << 3)
      high = wordAt(bytes, (step << 3) + 4)
    } else if (step === blocks - 1) {
      high = length << 24
      for (let n = (length & 7) - 1; n >= 0; n--) {
        const byte = bytes[whole + n]!
        if (n > 3) high |= byte << (8 * (n - 4))
        else low |= byte << (8 * n)
      }
    } else if (step === blocks) {
      v2l ^= 0xee
    } else if (step === blocks + 3) {
      out[0] = v0l ^ v1l ^ v2l ^ v3l
      out[1] = v0h ^ v1h ^ v2h ^ v3h
      v1l ^= 0xdd
    }
    v3l ^= low
    v3h ^= high

    let sum = (v0l >>> 0) + (v1l >>> 0)
    let kept = (v0h + v1h + (sum > 0xffffffff ? 1 : 0)) | 0
    v0h = sum | 0
    v0l = kept // rotated by 32: the halves change places
    kept = v1l
    v1l = ((v1l << 13) | (v1h >>> 19)) ^ v0h
    v1h = ((v1h << 13) | (kept >>> 19)) ^ v0l

    sum = (v2l >>> 0) + (v3l >>> 0)
    v2h = (v2h + v3h + (sum > 0xffffffff ? 1 : 0)) | 0
    v2l = sum | 0
    kept = v3l
    v3l = ((v3l << 16) | (v3h >>> 16)) ^ v2l
    v3h = ((v3h << 16) | (kept >>> 16)) ^ v2h

    sum = (v0l >>> 0) + (v3l >>> 0)
    v0h = (v0h + v3h + (sum > 0xffffffff ? 1 : 0)) | 0
    v0l = sum | 0
    kept = v3l
    v3l = ((v3l << 21) | (v3h >>> 11)) ^ v0l
    v3h = ((v3h << 21) | (kept >>> 11)) ^ v0h

    sum = (v2l >>> 0) + (v1l >>> 0)
    kept = (v2h + v1h + (sum > 0xffffffff ? 1 : 0)) | 0
    v2h = sum | 0
    v2l = kept
    kept = v1l
    v1l = ((v1l << 17) | (v1h >>> 15)) ^ v2h
    v1h = ((v1h << 17) | (kept >>> 15)) ^ v2l

    v0l ^= low
    v0h ^= high
  }
  out[2] = v0l ^ v1l ^ v2l ^ v3l
  out[3] = v0h ^ v1h ^ v2h ^ v3h
  return out
}

function wordAt(bytes: Uint8Array, at: number): number {
  return bytes[at]! | (bytes[at + 1]! << 8) | (bytes[at + 2]! << 16) | (bytes[at + 3]! << 24)
}

/** Short ASCII is written by hand, which is several times as fast. */
function utf8(text: string): number {
  const { length } = text
  if (length <= 64) {
    let n = 0
    while (n < length) {
      const code = charCode(text, n)
      if (code >= 0x80) break
      scratch[n++] = code
    }
    if (n === length) return length
  }
  return encoder.encodeInto(text, scratch).written
}
