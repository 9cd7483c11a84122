/**
 * `node:v8`, which keeps cycles and identity, as a codec that obeys the same law as the others: equal
 * afterwards, or refused. Payload: our format, a CRC-32, and what `v8.serialize` would write. The
 * checksum keeps what was damaged by chance away from a decoder that is not made for it.
 */
import { asBuffer } from '../core/as-buffer.ts'
import { DefaultDeserializer, DefaultSerializer } from 'node:v8'
import { crc32 } from 'node:zlib'
import { port } from '../ports.ts'
import type { Codec, CodecPort } from '../ports.ts'
import { Unstorable } from '../core/unstorable.ts'
import { messageOf } from './names.ts'
import { refuseUnclonable } from './v8-clonable.ts'

/**
 * The structured clone of `node:v8`. It is the only codec that keeps cycles and objects that are
 * referred to twice.
 *
 * **Warning.** Take it for nothing else. Its format belongs to one version of V8: an older Node may
 * not read what a newer one wrote (that is a miss), so that processes of two versions undo each
 * other's fills. And its decoder trusts what it reads: whoever can write to your Redis can feed it
 * bytes of their choosing. Use it where nobody but your own processes can, or inside `encrypted()`.
 */
export function v8(): Codec {
  return v8Codec
}

const format = 1
const crcAt = 1
const dataAt = 5

export const v8Codec: CodecPort = {
  [port]: 'codec',
  id: 4,
  name: 'v8',

  encode(value) {
    refuseUnclonable(value)
    const data = serialized(value)
    // Not from the pool: it may be kept for as long as the entry lives.
    const bytes = Buffer.allocUnsafeSlow(dataAt + data.length)
    bytes[0] = format
    bytes.writeUInt32BE(crc32(data), crcAt)
    bytes.set(data, dataAt)
    return bytes
  },

  decode(bytes) {
    const all = asBuffer(bytes)
    if (all.length <= dataAt || all[0] !== format) throw new Error('malformed v8 payload')
    const data = all.subarray(dataAt)
    if (crc32(data) !== all.readUInt32BE(crcAt)) throw new Error('malformed v8 payload: checksum')
    const reader = new Reader(data)
    reader.readHeader()
    return reader.readValue() as unknown
  },
}

function serialized(value: unknown): Buffer {
  const writer = new DefaultSerializer()
  try {
    writer.writeHeader()
    writer.writeValue(value)
    return writer.releaseBuffer()
  } catch (error) {
    throw new Unstorable('$', messageOf(error))
  }
}

/** What Node says of the private part of its deserializer. */
interface HostObjects {
  _readHostObject(): ArrayBufferView
}

/** Node's own gives typed arrays that are pieces of what it reads. */
class Reader extends DefaultDeserializer {
  _readHostObject(): ArrayBufferView {
    const view = (DefaultDeserializer.prototype as unknown as HostObjects)._readHostObject.call(
      this,
    )
    return ownView(view)
  }
}

function ownView(view: ArrayBufferView): ArrayBufferView {
  const { buffer, byteOffset, byteLength } = view
  if (Buffer.isBuffer(view)) {
    const own = Buffer.allocUnsafeSlow(byteLength)
    own.set(view)
    return own
  }
  const own = buffer.slice(byteOffset, byteOffset + byteLength)
  return new (view.constructor as new (buffer: ArrayBufferLike) => ArrayBufferView)(own)
}
