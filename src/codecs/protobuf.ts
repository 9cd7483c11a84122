/**
 * Protocol Buffers by `@bufbuild/protobuf`, for definitions whose values are messages of one type.
 * Payload: a byte that says whether there is a message, the CRC-32 of its type's name, the message
 * in binary. The library itself turns some wrong fields into others without a word; so each message
 * is read back and compared before it is stored.
 */
import { crc32 } from 'node:zlib'
import { fromBinary, isMessage, toBinary } from '@bufbuild/protobuf'
import type { DescMessage, MessageShape } from '@bufbuild/protobuf'
import { port } from '../ports.ts'
import type { Codec, CodecPort } from '../ports.ts'
import { invalidOption } from '../core/errors.ts'
import { Unstorable } from '../core/unstorable.ts'
import { payloadOf, present, valueAt } from './absent.ts'
import { messagePack } from './msgpack.ts'
import { messageOf, pathTo } from './names.ts'
import { difference, ownParts } from './protobuf-parts.ts'

const messageAt = valueAt + 4

/**
 * Protocol Buffers: messages of the one type that is given, as `@bufbuild/protobuf` 2 generates it,
 * and `null` and `undefined`. A list of messages is a message with a repeated field. `ctx.meta` is
 * written by MessagePack. Keeps what docs/codecs.md lists.
 *
 * @throws BreakwaterError `INVALID_OPTION` when it is not given a message type.
 */
export function protobuf<Type extends DescMessage>(
  type: Type,
): Codec<MessageShape<Type> | null | undefined> {
  if (typeof type !== 'object' || type === null || (type as DescMessage).kind !== 'message') {
    throw invalidOption('protobuf', 'a message type such as the generated ProductSchema', type)
  }
  const { typeName } = type
  const fingerprint = crc32(typeName)

  const codec: CodecPort<MessageShape<Type> | null | undefined> = {
    [port]: 'codec',
    id: 3,
    name: 'protobuf',
    meta: messagePack,

    encode(value) {
      if (value === null || value === undefined) return payloadOf(value, 0)
      if (!isMessage(value, type)) throw new Unstorable('$', `expected a message of ${typeName}`)
      const message = written(type, value)
      const changed = difference(value, readBack(message))
      if (changed !== undefined) throw new Unstorable(pathTo(changed.path), changed.what)
      const payload = payloadOf(value, messageAt - valueAt + message.length)
      payload.writeUInt32BE(fingerprint, valueAt)
      payload.set(message, messageAt)
      return payload
    },

    decode: (bytes) => present(bytes, (all) => ownParts(read(all), all.buffer, 'as they are')),
    decodeFrozen: (bytes) => present(bytes, (all) => ownParts(read(all), all.buffer, 'frozen')),
  }
  return codec

  function read(bytes: Uint8Array): MessageShape<Type> {
    const { buffer, byteOffset, length } = bytes
    const isOurs =
      length >= messageAt &&
      new DataView(buffer, byteOffset).getUint32(valueAt, false) === fingerprint
    if (!isOurs) throw new Error(`malformed payload: no message of ${typeName}`)
    // Not a Buffer: fields of bytes would be Buffers, too.
    return fromBinary(type, new Uint8Array(buffer, byteOffset + messageAt, length - messageAt))
  }

  function readBack(message: Uint8Array): MessageShape<Type> {
    try {
      return fromBinary(type, message)
    } catch (error) {
      throw new Unstorable('$', `cannot be read back (${messageOf(error)})`)
    }
  }
}

function written<Type extends DescMessage>(type: Type, message: MessageShape<Type>): Uint8Array {
  try {
    return toBinary(type, message)
  } catch (error) {
    const text = messageOf(error)
    // "cannot encode field shop.Product.price_cents to binary: invalid int32: 0.5"
    const said = /^cannot encode field (\S+)\.(\w+) to binary: (.*)$/s.exec(text)
    const field =
      said?.[1] === type.typeName ? type.fields.find(({ name }) => name === said[2]) : undefined
    if (field === undefined) throw new Unstorable('$', describeText(text))
    throw new Unstorable(pathTo([field.localName]), describeText(said![3]!))
  }
}

/** The library's words may contain the value, which may be long. */
function describeText(text: string): string {
  return text.length > 200 ? `${text.slice(0, 200)}…` : text
}
