/**
 * The hash slot of a key, as Redis Cluster computes it: CRC16 (XMODEM) of the hash tag, modulo 16384.
 * The tag is what lies between the first `{` and the first `}` after it, unless that is nothing:
 * then it is the whole key. The key is the final one, with the client's key prefix.
 */
const table = Uint16Array.from({ length: 256 }, (_, byte) => {
  let crc = byte << 8
  for (let bit = 0; bit < 8; bit++) crc = crc & 0x8000 ? (crc << 1) ^ 0x1021 : crc << 1
  return crc
})

const open = 0x7b
const close = 0x7d

export function slotOf(key: string | Uint8Array): number {
  const bytes = typeof key === 'string' ? Buffer.from(key) : key
  let [from, to] = [0, bytes.length]
  const start = bytes.indexOf(open)
  const end = start === -1 ? -1 : bytes.indexOf(close, start)
  if (end > start + 1) [from, to] = [start + 1, end]
  let crc = 0
  for (let at = from; at < to; at++) crc = ((crc << 8) ^ table[(crc >> 8) ^ bytes[at]!]!) & 0xffff
  return crc % 16_384
}

/** With such a prefix the whole key is hashed, and no two keys of an entry lie in one slot. */
export function hidesHashTag(keyPrefix: string): boolean {
  return /^[^{]*\{\}/.test(keyPrefix)
}
