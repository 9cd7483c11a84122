/**
 * SipHash-1-3 with 128 bits (Aumasson & Bernstein 2012, and the reference code's `hashlen` 16), over
 * UTF-8. Keyed, so that nobody who does not know the key can make texts that collide: the
 * multicollisions of MurmurHash hold for every seed. A 64-bit word is two halves, low and high.
 */

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

// One of each for all calls: nothing here ever waits in between.
let v0l = 0
let v0h = 0
let v1l = 0
let v1h = 0
let v2l = 0
let v2h = 0
let v3l = 0
let v3h = 0
let scratch = new Uint8Array(1_024)
const encoder = new TextEncoder()

/** Into `out`, so that nothing is allocated. */
export function sipHashText(text: string, key: SipKey, out: Digest): Digest {
  if (text.length * 3 > scratch.length) scratch = new Uint8Array(text.length * 6)
  return sipHash(scratch, utf8(text), key, out)
}

/** Of the first `length` bytes. */
export function sipHash(bytes: Uint8Array, length: number, key: SipKey, out: Digest): Digest {
  v0l = key.low0 ^ 0x70736575
  v0h = key.high0 ^ 0x736f6d65
  v1l = key.low1 ^ 0x6e646f6d ^ 0xee
  v1h = key.high1 ^ 0x646f7261
  v2l = key.low0 ^ 0x6e657261
  v2h = key.high0 ^ 0x6c796765
  v3l = key.low1 ^ 0x79746573
  v3h = key.high1 ^ 0x74656462
  const whole = length & ~7
  for (let at = 0; at < whole; at += 8) block(wordAt(bytes, at), wordAt(bytes, at + 4))
  let low = 0
  let high = length << 24
  for (let n = length & 7; n > 0; n--) {
    const byte = bytes[whole + n - 1]!
    if (n > 4) high |= byte << (8 * (n - 5))
    else low |= byte << (8 * (n - 1))
  }
  block(low, high)
  v2l ^= 0xee
  finish(out, 0)
  v1l ^= 0xdd
  finish(out, 2)
  return out
}

function block(low: number, high: number): void {
  v3l ^= low
  v3h ^= high
  round()
  v0l ^= low
  v0h ^= high
}

function finish(out: Digest, at: number): void {
  round()
  round()
  round()
  out[at] = v0l ^ v1l ^ v2l ^ v3l
  out[at + 1] = v0h ^ v1h ^ v2h ^ v3h
}

function round(): void {
  let [al, ah, bl, bh] = [v0l, v0h, v1l, v1h]
  let [cl, ch, dl, dh] = [v2l, v2h, v3l, v3h]
  let low = (al >>> 0) + (bl >>> 0)
  ah = (ah + bh + (low > 0xffffffff ? 1 : 0)) | 0
  al = low | 0
  let kept = bl
  bl = ((bl << 13) | (bh >>> 19)) ^ al
  bh = ((bh << 13) | (kept >>> 19)) ^ ah
  kept = al
  al = ah
  ah = kept

  low = (cl >>> 0) + (dl >>> 0)
  ch = (ch + dh + (low > 0xffffffff ? 1 : 0)) | 0
  cl = low | 0
  kept = dl
  dl = ((dl << 16) | (dh >>> 16)) ^ cl
  dh = ((dh << 16) | (kept >>> 16)) ^ ch

  low = (al >>> 0) + (dl >>> 0)
  ah = (ah + dh + (low > 0xffffffff ? 1 : 0)) | 0
  al = low | 0
  kept = dl
  dl = ((dl << 21) | (dh >>> 11)) ^ al
  dh = ((dh << 21) | (kept >>> 11)) ^ ah

  low = (cl >>> 0) + (bl >>> 0)
  ch = (ch + bh + (low > 0xffffffff ? 1 : 0)) | 0
  cl = low | 0
  kept = bl
  bl = ((bl << 17) | (bh >>> 15)) ^ cl
  bh = ((bh << 17) | (kept >>> 15)) ^ ch
  v0l = al
  v0h = ah
  v1l = bl
  v1h = bh
  v2l = ch
  v2h = cl
  v3l = dl
  v3h = dh
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
      const code = text.charCodeAt(n)
      if (code >= 0x80) break
      scratch[n++] = code
    }
    if (n === length) return length
  }
  return encoder.encodeInto(text, scratch).written
}
