/**
 * Numbers as MessagePack: each function writes there and gives where it ends; nine bytes are free.
 * From 0x40 on a byte is no number but a record, where shapes are.
 */

/** −0 is written as 0. */
export function numberInto(memory: Buffer, at: number, value: number, view: DataView): number {
  if (value >>> 0 === value) {
    if (value < 0x40) {
      memory[at] = value
      return at + 1
    }
    if (value < 0x100) return u8Into(memory, at, 0xcc, value)
    if (value < 0x10000) return u16Into(memory, at, 0xcd, value)
    return u32Into(memory, at, 0xce, value)
  }
  if (value >> 0 === value) {
    if (value >= -0x20) {
      memory[at] = value
      return at + 1
    }
    if (value >= -0x80) return u8Into(memory, at, 0xd0, value)
    if (value >= -0x8000) return u16Into(memory, at, 0xd1, value)
    return u32Into(memory, at, 0xd2, value)
  }
  memory[at] = 0xcb
  view.setFloat64(at + 1, value)
  return at + 9
}

function u8Into(memory: Buffer, at: number, token: number, value: number): number {
  memory[at] = token
  memory[at + 1] = value
  return at + 2
}

export function u16Into(memory: Buffer, at: number, token: number, value: number): number {
  memory[at] = token
  memory[at + 1] = value >> 8
  memory[at + 2] = value
  return at + 3
}

export function u32Into(memory: Buffer, at: number, token: number, value: number): number {
  memory[at] = token
  memory[at + 1] = value >> 24
  memory[at + 2] = value >> 16
  memory[at + 3] = value >> 8
  memory[at + 4] = value
  return at + 5
}
