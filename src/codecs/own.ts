/** A codec of the user's own, made safe: it is asked for values alone, and gets and gives its own bytes. */
import { port } from '../ports.ts'
import type { Codec, CodecPort } from '../ports.ts'
import { describe, invalidOption } from '../core/errors.ts'
import { isPlain } from '../core/plain.ts'
import { Unstorable } from '../core/unstorable.ts'
import { payloadOf, present, valueAt } from './absent.ts'
import { messagePack } from './msgpack.ts'
import { className, messageOf } from './names.ts'

export interface OwnCodec<Value> {
  /** For messages: 1 to 32 characters. */
  name: string
  /**
   * 128 to 255, written into every frame: what another codec wrote is never given to this one. Take
   * another number when the bytes change in a way that `decode` cannot tell.
   */
  id: number
  /** Never given `null` or `undefined`. What it throws makes the value unstorable, with its message. */
  encode(value: Value): Uint8Array
  /** Throws what it cannot read: that is a miss. The bytes are its own to keep. */
  decode(bytes: Buffer): Value
}

/**
 * A codec of your own, for `codec:` of a cache or a definition. `null` and `undefined` are kept
 * without it. What `decode` gives is what callers get, on a miss too; so `decode(encode(value))`
 * must be as good as `value`. `ctx.meta` is written by MessagePack.
 *
 * @throws BreakwaterError `INVALID_OPTION` for what is no codec.
 */
export function defineCodec<Value>(own: OwnCodec<Value>): Codec<Value | null | undefined> {
  const { name, id, encode, decode } = checked(own)
  const codec: CodecPort<Value | null | undefined> = {
    [port]: 'codec',
    id,
    name,
    meta: messagePack,

    encode(value) {
      if (value === null || value === undefined) return payloadOf(value, 0)
      const bytes = encoded(value as Value)
      const payload = payloadOf(value, bytes.length)
      payload.set(bytes, valueAt)
      return payload
    },

    decode: (bytes) =>
      present(bytes, () => {
        const value = decode(copyOf(bytes))
        if (value instanceof Promise)
          throw new Error(`codec ${name}: decode must not be asynchronous`)
        return value
      }),
  }
  return codec

  function encoded(value: Value): Uint8Array {
    let bytes: unknown
    try {
      bytes = encode(value)
    } catch (error) {
      // One of ours that is called inside it knows the path.
      if (error instanceof Unstorable) throw error
      throw new Unstorable('$', `codec ${name}: ${messageOf(error)}`)
    }
    if (bytes instanceof Uint8Array) return bytes
    const got = typeof bytes === 'object' && bytes !== null ? className(bytes) : describe(bytes)
    throw new Unstorable('$', `codec ${name}: expected a Uint8Array from encode, got ${got}`)
  }
}

function copyOf(bytes: Uint8Array): Buffer {
  const own = Buffer.allocUnsafeSlow(bytes.length - valueAt)
  own.set(bytes.subarray(valueAt))
  return own
}

const known = ['name', 'id', 'encode', 'decode']

function checked<Value>(own: OwnCodec<Value>): OwnCodec<Value> {
  if (typeof own !== 'object' || own === null) {
    throw invalidOption('defineCodec', '{ name, id, encode, decode }', own)
  }
  // An instance of a class has what else it needs.
  const stranger = isPlain(own) && Object.keys(own).find((name) => !known.includes(name))
  if (typeof stranger === 'string') {
    throw invalidOption('defineCodec', `no more than ${known.join(', ')}`, stranger)
  }
  const { name, id, encode, decode } = own
  if (typeof name !== 'string' || name === '' || name.length > 32) {
    throw invalidOption('defineCodec: name', 'a text of 1 to 32 characters', name)
  }
  if (!Number.isInteger(id) || id < 128 || id > 255) {
    throw invalidOption('defineCodec: id', 'a whole number from 128 to 255', id)
  }
  if (typeof encode !== 'function') {
    throw invalidOption('defineCodec: encode', 'a function from value to bytes', encode)
  }
  if (typeof decode !== 'function') {
    throw invalidOption('defineCodec: decode', 'a function from bytes to value', decode)
  }
  // Called as methods of what they are methods of.
  return { name, id, encode: (value) => own.encode(value), decode: (bytes) => own.decode(bytes) }
}
