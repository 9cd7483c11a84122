/**
 * Goes over MessagePack bytes token by token, before the decoder sees them. Only what our encoder
 * writes passes: the decoder knows more (references, bundles, classes that other code has
 * registered), trusts lengths enough to allocate for them, and compiles a function per record shape.
 * Nothing is allocated by a length: every element that is announced must still have a byte to be in.
 */

/** A shape that was given an id. A later one may take the id over. */
export interface Definition {
  readonly id: number
  /** Where the list of its names begins. */
  readonly namesAt: number
  readonly fields: number
  readonly previous: number | undefined
}

export class Scan {
  readonly bytes: Buffer
  /** Where the next value begins. */
  at = 0
  /** A mark was seen: the decoded value must be revived. */
  marked = false
  /** Objects written as maps, without a shape. */
  maps = false
  shapes = 0
  /** Shapes in their order, for who decodes piece by piece; `undefined`: nobody does. */
  definitions: Definition[] | undefined
  /** By id of the shape, its number of fields. Until there is one, such tokens are small numbers. */
  #fields: (number | undefined)[] | undefined

  constructor(bytes: Buffer) {
    this.bytes = bytes
  }

  fieldsOf(id: number): number | undefined {
    return this.#fields?.[id]
  }

  /** Goes over the next value. False: it goes on after `end`; nothing has happened then. */
  skip(end: number): boolean {
    const { bytes } = this
    const { length } = bytes
    const known = this.definitions?.length
    let fields = this.#fields
    const from = this.at
    let at = from
    /** Values that must still come. */
    let pending = 1
    while (pending > 0) {
      if (pending > end - at) return this.#back(from, known)
      const token = bytes[at++]!
      pending--
      if (token < 0x40 || token >= 0xe0) continue
      if (token < 0x80) {
        // Where no shape is, this is a small number: as MessagePack has it, and our map form too.
        if (fields === undefined) continue
        const count = fields[token & 0x3f]
        if (count === undefined) throw malformed('a record of unknown shape')
        pending += count
      } else if (token < 0x90) {
        this.maps = true
        pending += (token & 0x0f) * 2
      } else if (token < 0xa0) {
        pending += token & 0x0f
        // A token that MessagePack never uses: our mark, and nothing of ours anywhere else.
        if (token === 0x93 && bytes[at] === 0xc1) {
          this.marked = true
          pending--
          at++
        }
      } else if (token < 0xc0) at += token & 0x1f
      else {
        switch (token) {
          case 0xc0: // null
          case 0xc2: // false
          case 0xc3: // true
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
            this.maps = true
            pending += u16(bytes, at) * 2
            at += 2
            break
          case 0xdf:
            this.maps = true
            pending += u32(bytes, at) * 2
            at += 4
            break
          case 0xd4: {
            // An extension of one byte: undefined, or the shape of a record and then its first use.
            if (at + 2 > length) throw malformed('truncated')
            if (bytes[at] !== 0 || bytes[at + 1] !== 0) {
              this.at = at
              pending += this.define()
              fields = this.#fields
              at = this.at
            } else at += 2
            break
          }
          default:
            throw malformed(`an unknown token 0x${token.toString(16)}`)
        }
      }
    }
    if (at > end) return this.#back(from, known)
    this.at = at
    return true
  }

  /** Takes note of the shape whose type and id come next, before its first use; gives how many fields. */
  define(): number {
    const { bytes, at } = this
    const id = bytes[at + 1]!
    if (bytes[at] !== 0x72 || (id & 0xc0) !== 0x40) throw malformed('an unknown extension')
    if (++this.shapes > 0xffffff) throw malformed('too many shapes')
    const fields = (this.#fields ??= [])
    const names = arrayLength(bytes, at + 2)
    const previous = fields[id & 0x3f]
    this.definitions?.push({
      id: id & 0x3f,
      namesAt: at + 2,
      fields: names.length,
      previous,
    })
    fields[id & 0x3f] = names.length
    this.at = names.at
    for (let i = 0; i < names.length; i++) this.at = afterText(bytes, this.at)
    return names.length
  }

  /** As it was before, with so many shapes. */
  #back(from: number, known: number | undefined): false {
    const { definitions } = this
    this.at = from
    if (definitions === undefined || known === undefined) return false
    while (definitions.length > known) {
      const { id, previous } = definitions.pop()!
      this.#fields![id] = previous
      this.shapes--
    }
    if (this.shapes === 0) this.#fields = undefined
    return false
  }
}

function afterText(bytes: Buffer, at: number): number {
  const token = bytes[at] ?? 0
  if (token >= 0xa0 && token < 0xc0) return at + 1 + (token & 0x1f)
  if (token === 0xd9) return at + 2 + (bytes[at + 1] ?? 0)
  if (token === 0xda) return at + 3 + u16(bytes, at + 1)
  if (token === 0xdb) return at + 5 + u32(bytes, at + 1)
  throw malformed('a shape without names')
}

function arrayLength(bytes: Buffer, at: number): { length: number; at: number } {
  const token = bytes[at] ?? 0
  if (token >= 0x90 && token < 0xa0) return { length: token & 0x0f, at: at + 1 }
  if (token === 0xdc) return { length: u16(bytes, at + 1), at: at + 3 }
  if (token === 0xdd) return { length: u32(bytes, at + 1), at: at + 5 }
  throw malformed('a shape without names')
}

export function u16(bytes: Buffer, at: number): number {
  if (at + 2 > bytes.length) throw malformed('truncated')
  return (bytes[at]! << 8) | bytes[at + 1]!
}

export function u32(bytes: Buffer, at: number): number {
  if (at + 4 > bytes.length) throw malformed('truncated')
  return bytes.readUInt32BE(at)
}

export function malformed(what: string): Error {
  return new Error(`malformed MessagePack: ${what}`)
}
