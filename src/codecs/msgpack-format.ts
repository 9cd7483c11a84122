/** What our MessagePack is: what it keeps by itself, how it writes a mark, and how it is read. */
import { C1 } from 'msgpackr'
import { tags, unmark } from './marks.ts'
import type { Tag } from './marks.ts'
import type { Marks } from './revive.ts'
import type { Format } from './storable.ts'

const codes = new Map<Tag, number>(tags.map((tag, code) => [tag, code]))

const minInt64 = -(2n ** 63n)
const maxInt64 = 2n ** 63n - 1n

export const format: Format = {
  mark: (tag, data) => [C1, codes.get(tag), data],
  bytes: (bytes) => bytes,
  keepsUndefined: true,
  keepsBuffer: true,
  keepsNumber: (value) => value !== 0 || 1 / value > 0,
  keepsBigint: (value) => value >= minInt64 && value <= maxInt64,
  keepsText,
  keepsName,
}

export const marks: Marks = {
  dataOf: (value) =>
    Array.isArray(value) && value[0] === C1 ? { tag: value[1], data: value[2] } : undefined,
  unmark: (code, data) => unmark(tagOf(code), data, bytesOf),
}

export function tagOf(code: unknown): Tag {
  const tag = tags[code as number]
  if (tag === undefined) throw new Error('malformed MessagePack: an unknown mark')
  return tag
}

export const options = {
  copyBuffers: true, // else a decoded Buffer is a piece of the frame, and keeps all of it
  structuredClone: false, // else bytes can make cycles
  mapsAsObjects: true,
}

function bytesOf(data: unknown): Buffer {
  if (Buffer.isBuffer(data)) return data
  throw new Error('malformed MessagePack: bytes expected')
}

/**
 * Without its native part, msgpackr takes U+FEFF at the beginning of text of more than 64 bytes for
 * a byte order mark, and drops it.
 */
function keepsText(text: string): boolean {
  return isWellFormed(text) && (text.length <= 21 || text.charCodeAt(0) !== 0xfeff)
}

/** Names that msgpackr renames (`__proto__`) or lets decide how the object is written. */
function keepsName(name: string): boolean {
  if (name === '__proto__' || name === 'constructor' || name === 'toJSON') return false
  return keepsText(name)
}

/** ES2024, in every Node that we support; not yet in our `lib`. */
function isWellFormed(text: string): boolean {
  return (text as string & { isWellFormed(): boolean }).isWellFormed()
}
