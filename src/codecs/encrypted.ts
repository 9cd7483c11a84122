/**
 * Encryption at rest, around any codec: AES-256-GCM by node:crypto, with a key of its own for each
 * frame. A nonce of 96 random bits is safe for 2³² messages of one key (NIST SP 800-38D § 8.3); a
 * fleet that fills 5,000 entries a second has made those in ten days. So each frame's key is derived
 * from the master key and 128 random bits: HMAC-SHA256(master, label ‖ salt).
 *
 * Sealed bytes: version, length of the key's id, the id, salt (16), nonce (12), ciphertext, tag (16).
 * Authenticated too: all before the salt, and the entry that it is stored as, so that no frame can
 * be moved to another key.
 */
import { asBuffer } from '../core/as-buffer.ts'
import { createCipheriv, createDecipheriv, createHmac, randomFillSync } from 'node:crypto'
import type { Cipher, Decipher, KeyObject } from 'node:crypto'
import type { Codec, CodecPort, Seal } from '../ports.ts'
import { port } from '../ports.ts'
import { BreakwaterError, invalidOption } from '../core/errors.ts'
import { masterKeys } from './encryption-keys.ts'
import type { MasterKey } from './encryption-keys.ts'
import { messagePack } from './msgpack.ts'

export interface EncryptionOptions<Value> {
  /** What makes bytes of values. Default: MessagePack. */
  codec?: Codec<Value>
  /**
   * Key by its id (1 to 32 of A–Z, a–z, 0–9, dot, _ and -): 32 bytes, as a Buffer or Uint8Array, a
   * secret KeyObject, or text in hexadecimal or base64. All of them open; one seals.
   */
  keys: Readonly<Record<string, Uint8Array | KeyObject | string>>
  /** Id of the key that new frames are sealed with. Default: the only one. */
  use?: string
}

const version = 1
const saltLength = 16
const nonceLength = 12
const tagLength = 16
const stepLength = 64 * 1024
const label = 'breakwater frame key 1'

/**
 * Wraps a codec: what goes to the store is encrypted and authenticated; memory keeps values as they
 * are. Costs 46 bytes and the length of the key's id per frame. To change keys: add the new one
 * everywhere, then `use` it, and drop the old one when its last frames have expired. A frame of an
 * unknown key is a miss.
 *
 * @throws BreakwaterError `INVALID_OPTION`; never with any part of a key in its text.
 */
// eslint-disable-next-line typescript/no-explicit-any -- as the default of Codec
export function encrypted<Value = any>(options: EncryptionOptions<Value>): Codec<Value> {
  if (typeof options !== 'object' || options === null) {
    throw new BreakwaterError('INVALID_OPTION', 'encrypted: expected { keys, use, codec }')
  }
  const known = ['codec', 'keys', 'use']
  // Not by its name: what stands there may be a key.
  if (Object.keys(options).some((name) => !known.includes(name))) {
    throw new BreakwaterError(
      'INVALID_OPTION',
      `encrypted: expected no more than ${known.join(', ')}`,
    )
  }
  const inner = innerOf(options.codec)
  const { masters, used } = masterKeys(options.keys, options.use)
  const codec: CodecPort<Value> = { ...inner, seal: sealOf(masters, used) }
  return codec
}

function innerOf(codec: Codec | undefined): CodecPort {
  if (codec === undefined) return messagePack
  if (typeof codec !== 'object' || codec === null || codec[port] !== 'codec') {
    throw invalidOption('encrypted: codec', 'what msgpack(), json() and the like give', codec)
  }
  const inner = codec as CodecPort
  if (inner.seal !== undefined) {
    throw new BreakwaterError(
      'INVALID_OPTION',
      'encrypted: codec: expected one that is not encrypted yet, got one that is',
    )
  }
  return inner
}

function sealOf(masters: ReadonlyMap<string, MasterKey>, used: MasterKey): Seal {
  return {
    close(bytes, context) {
      const { header } = used
      const sealed = Buffer.allocUnsafeSlow(overhead(header) + bytes.length)
      sealed.set(header)
      const salt = sealed.subarray(header.length, header.length + saltLength)
      const nonceAt = header.length + saltLength
      const nonce = sealed.subarray(nonceAt, nonceAt + nonceLength)
      randomFillSync(sealed, header.length, saltLength + nonceLength)
      const cipher = createCipheriv('aes-256-gcm', frameKey(used, salt), nonce)
      cipher.setAAD(Buffer.concat([header, Buffer.from(context)]))
      through(cipher, bytes, sealed, nonceAt + nonceLength)
      cipher.final()
      sealed.set(cipher.getAuthTag(), sealed.length - tagLength)
      return sealed
    },

    open(bytes, context) {
      const sealed = asBuffer(bytes)
      if (sealed[0] !== version) throw new Error('not sealed by this version')
      const master = masters.get(sealed.toString('latin1', 2, 2 + (sealed[1] ?? 0)))
      if (master === undefined) throw new Error('sealed with a key that is not known')
      const { header } = master
      if (sealed.length < overhead(header)) throw new Error('truncated')
      const nonceAt = header.length + saltLength
      const from = nonceAt + nonceLength
      const salt = sealed.subarray(header.length, nonceAt)
      const nonce = sealed.subarray(nonceAt, from)
      const key = frameKey(master, salt)
      const decipher = createDecipheriv('aes-256-gcm', key, nonce, { authTagLength: tagLength })
      decipher.setAAD(Buffer.concat([header, Buffer.from(context)]))
      decipher.setAuthTag(sealed.subarray(sealed.length - tagLength))
      const closed = sealed.subarray(from, sealed.length - tagLength)
      const opened = Buffer.allocUnsafeSlow(closed.length)
      through(decipher, closed, opened, 0)
      decipher.final() // throws unless all of it is as it was sealed
      return opened
    },
  }
}

/** Step by step: what the cipher gives is new memory each time, which costs more than the work. */
function through(cipher: Cipher | Decipher, bytes: Uint8Array, to: Buffer, at: number): void {
  for (let from = 0; from < bytes.length; from += stepLength) {
    to.set(cipher.update(bytes.subarray(from, from + stepLength)), at + from)
  }
}

function overhead(header: Uint8Array): number {
  return header.length + saltLength + nonceLength + tagLength
}

function frameKey(master: MasterKey, salt: Uint8Array): Buffer {
  return createHmac('sha256', master.key).update(label).update(salt).digest()
}
