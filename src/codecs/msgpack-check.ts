/**
 * A look over MessagePack bytes before the decoder sees them. Only what our encoder writes passes:
 * the decoder knows more (references, bundles, classes that other code has registered), trusts
 * lengths enough to allocate for them, and compiles a function per record shape. One pass, nothing
 * allocated by a length: every element that is announced must still have a byte to be in.
 */

/** More shapes than this are written as maps, for which nothing is compiled. */
export const maxShapes = 4_096

export interface Checked {
  /** A mark was seen: the decoded value must be revived. */
  readonly marked: boolean
  /** Objects written as maps, without a shape. */
  readonly maps: boolean
  readonly shapes: number
}

const plain: Checked = { marked: false, maps: false, shapes: 0 }

/** Throws when the bytes are truncated, go on after the value, or are not of our making. */
export function checkMessagePack(bytes: Buffer): Checked {
  const { length } = bytes
  let records: number[] | undefined
  let shapes = 0
  let marked = false
  let maps = false
  let at = 0
  /** Values that must still come. */
  let pending = 1
  while (pending > 0) {
    if (pending > length - at) throw malformed('truncated')
    const token = bytes[at++]!
    pending--
    if (token < 0x40 || token >= 0xe0) continue
    if (token < 0x80) {
      // Where no shape is, this is a small number: as MessagePack has it, and our map form too.
      if (records === undefined) continue
      const fields = records[token & 0x3f]
      if (fields === undefined) throw malformed('a record of unknown shape')
      pending += fields
    } else if (token < 0x90) {
      maps = true
      pending += (token & 0x0f) * 2
    } else if (token < 0xa0) pending += token & 0x0f
    else if (token < 0xc0) at += token & 0x1f
    else {
      switch (token) {
        case 0xc0: // null
        case 0xc2: // false
        case 0xc3: // true
          break
        case 0xc1: // never used by MessagePack: our mark
          marked = true
          break
        case 0xc4: // bytes
        case 0xd9: // text
          if (at >= length) throw malformed('truncated')
          at += 1 + bytes[at]!
          break
        case 0xc5:
        case 0xda:
          at += 2 + u16(bytes, at)
          break
        case 0xc6:
        case 0xdb:
          at += 4 + u32(bytes, at)
          break
        case 0xcc: // u8, i8
        case 0xd0:
          at += 1
          break
        case 0xcd: // u16, i16
        case 0xd1:
          at += 2
          break
        case 0xce: // u32, i32
        case 0xd2:
          at += 4
          break
        case 0xcb: // f64, i64
        case 0xd3:
          at += 8
          break
        case 0xdc: // arrays
          pending += u16(bytes, at)
          at += 2
          break
        case 0xdd:
          pending += u32(bytes, at)
          at += 4
          break
        case 0xde: // maps
          maps = true
          pending += u16(bytes, at) * 2
          at += 2
          break
        case 0xdf:
          maps = true
          pending += u32(bytes, at) * 2
          at += 4
          break
        case 0xd4: {
          // An extension of one byte: undefined, or the shape of a record and then its first use.
          if (at + 2 > length) throw malformed('truncated')
          const type = bytes[at]!
          const id = bytes[at + 1]!
          at += 2
          if (type === 0 && id === 0) break
          if (type !== 0x72 || (id & 0xc0) !== 0x40) throw malformed('an unknown extension')
          if (++shapes > 0xffffff) throw malformed('too many shapes')
          const names = arrayLength(bytes, at)
          at = names.at
          records ??= []
          records[id & 0x3f] = names.length
          pending += names.length * 2
          break
        }
        default:
          throw malformed(`an unknown token 0x${token.toString(16)}`)
      }
    }
  }
  if (at !== length) throw malformed(at > length ? 'truncated' : 'something after the value')
  return marked || maps || shapes > 0 ? { marked, maps, shapes } : plain
}

function arrayLength(bytes: Buffer, at: number): { length: number; at: number } {
  const token = bytes[at] ?? 0
  if (token >= 0x90 && token < 0xa0) return { length: token & 0x0f, at: at + 1 }
  if (token === 0xdc) return { length: u16(bytes, at + 1), at: at + 3 }
  if (token === 0xdd) return { length: u32(bytes, at + 1), at: at + 5 }
  throw malformed('a shape without names')
}

function u16(bytes: Buffer, at: number): number {
  if (at + 2 > bytes.length) throw malformed('truncated')
  return (bytes[at]! << 8) | bytes[at + 1]!
}

function u32(bytes: Buffer, at: number): number {
  if (at + 4 > bytes.length) throw malformed('truncated')
  return bytes.readUInt32BE(at)
}

function malformed(what: string): Error {
  return new Error(`malformed MessagePack: ${what}`)
}
