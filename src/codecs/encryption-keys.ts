/** Keys as users have them, checked. No message of this file has anything of a key in it. */
import { createSecretKey, KeyObject } from 'node:crypto'
import { BreakwaterError } from '../core/errors.ts'

const version = 1
const keyLength = 32

export interface MasterKey {
  readonly key: KeyObject
  /** What sealed bytes begin with: version, length of the id, the id. */
  readonly header: Uint8Array
}

export interface MasterKeys {
  readonly masters: ReadonlyMap<string, MasterKey>
  readonly used: MasterKey
}

export function masterKeys(keys: unknown, use: unknown): MasterKeys {
  const isRecord = typeof keys === 'object' && keys !== null && !ArrayBuffer.isView(keys)
  if (!isRecord || Array.isArray(keys) || keys instanceof KeyObject) {
    throw invalid('keys', "an object of keys by their ids, as in { '2026': key }")
  }
  const given = Object.entries(keys)
  if (given.length === 0) throw invalid('keys', 'at least one key')
  const masters = new Map(given.map(([id, key]) => [idFrom(id), masterKey(id, key)]))
  if (use === undefined && given.length > 1) {
    throw invalid('use', `the id of one of the ${given.length} keys, since there are several`)
  }
  const used = masters.get((use ?? given[0]![0]) as string)
  if (used === undefined) throw invalid('use', 'the id of one of the keys')
  return { masters, used }
}

/** Not named in the message: whoever took key for id would find the key in a log. */
function idFrom(id: string): string {
  if (/^[A-Za-z0-9._-]{1,32}$/.test(id)) return id
  throw invalid('keys', 'ids of 1 to 32 characters of A–Z, a–z, 0–9, dot, _ and -')
}

function masterKey(id: string, given: unknown): MasterKey {
  const header = Buffer.from([version, id.length, ...Buffer.from(id)])
  if (given instanceof KeyObject && given.type === 'secret') {
    if (given.symmetricKeySize === keyLength) return { key: given, header }
    throw wrongKey(`a KeyObject of ${given.symmetricKeySize} bytes`)
  }
  const bytes = bytesOf(given)
  if (bytes.length !== keyLength) throw wrongKey(`${bytes.length} bytes`)
  return { key: createSecretKey(bytes), header }
}

function bytesOf(given: unknown): Uint8Array {
  if (given instanceof Uint8Array) return given
  if (typeof given !== 'string') throw wrongKey(given === null ? 'null' : `some ${typeof given}`)
  if (/^[0-9a-f]{64}$/i.test(given)) return Buffer.from(given, 'hex')
  if (/^[A-Za-z0-9+/_-]{43}=?$/.test(given)) return Buffer.from(given, 'base64')
  throw wrongKey(`a text of ${given.length} characters that is neither`)
}

function wrongKey(got: string): BreakwaterError {
  return invalid('keys', '32 bytes each, or their text in hexadecimal or base64', got)
}

function invalid(option: string, expected: string, got?: string): BreakwaterError {
  const came = got === undefined ? '' : `, got ${got}`
  return new BreakwaterError('INVALID_OPTION', `encrypted: ${option}: expected ${expected}${came}`)
}
