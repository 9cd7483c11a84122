/**
 * JSON, for stores that other programs read. Plain JSON data is written as any other program would.
 * What JSON has no form for becomes an object with one property, `{"~#date": 1700000000000}`; an
 * object with such a name by itself is marked too, so that nothing is ever taken for a mark.
 */
import { asBuffer } from '../core/as-buffer.ts'
import { port } from '../ports.ts'
import type { Codec, CodecPort } from '../ports.ts'
import { Unstorable } from '../core/unstorable.ts'
import { tags, unmark } from './marks.ts'
import type { Tag } from './marks.ts'
import { revive } from './revive.ts'
import type { Marks } from './revive.ts'
import { storable } from './storable.ts'
import type { Format } from './storable.ts'

/** JSON. Keeps what docs/codecs.md lists. */
export function json(): Codec {
  return jsonCodec
}

const sign = '~#'
const quotedSign = `"${sign}`

const known = new Set<string>(tags)

const format: Format = {
  mark: (tag, data) => ({ [sign + tag]: data }),
  bytes: (bytes) => bytes.toString('base64'),
  keepsUndefined: false,
  keepsBuffer: false,
  keepsNumber: (value) => Number.isFinite(value) && (value !== 0 || 1 / value > 0),
  keepsBigint: () => false,
  keepsText: () => true, // lone surrogates are escaped
  keepsName: (name) => !name.startsWith(sign),
}

const marks: Marks = {
  dataOf(value) {
    if (Array.isArray(value)) return undefined
    const names = Object.keys(value)
    const [name] = names
    if (names.length !== 1 || !name!.startsWith(sign)) return undefined
    return { tag: name!.slice(sign.length), data: value[name as never] }
  },
  unmark(tag, data) {
    if (!known.has(tag as string)) throw new Error('malformed JSON: an unknown mark')
    return unmark(tag as Tag, data, bytesOf)
  },
}

export const jsonCodec: CodecPort = {
  [port]: 'codec',
  id: 2,
  name: 'json',

  encode(value) {
    const data = storable(value, format)
    try {
      const text = JSON.stringify(data)
      // Not from the pool: these bytes may be kept for as long as the entry lives.
      const bytes = Buffer.allocUnsafeSlow(Buffer.byteLength(text))
      bytes.write(text)
      return bytes
    } catch (error) {
      throw new Unstorable('$', error instanceof Error ? error.message : String(error))
    }
  },

  decode(bytes) {
    const text = asBuffer(bytes).toString()
    const value: unknown = JSON.parse(text)
    return text.includes(quotedSign) ? revive(value, marks) : value
  },
}

function bytesOf(data: unknown): Buffer {
  if (typeof data !== 'string') throw new Error('malformed JSON: bytes expected')
  const bytes = Buffer.allocUnsafeSlow(Buffer.byteLength(data, 'base64'))
  return bytes.subarray(0, bytes.write(data, 'base64'))
}
