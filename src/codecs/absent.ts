/**
 * `null` and `undefined` say that something does not exist, and every definition may give them. A
 * codec that is made for one type knows nothing of them: one byte before its own bytes does.
 */

const [isNull, isUndefined, isValue] = [0, 1, 2]

/** Where the value's own bytes begin. */
export const valueAt = 1

/** The payload of `null` and `undefined`; of a value, room for so many bytes after the first. */
export function payloadOf(value: unknown, length: number): Buffer {
  const absent = value === null || value === undefined
  // Not from the pool: it may be kept for as long as the entry lives.
  const bytes = Buffer.allocUnsafeSlow(absent ? 1 : valueAt + length)
  bytes[0] = value === null ? isNull : value === undefined ? isUndefined : isValue
  return bytes
}

/** `read` is given nothing but values. Throws for what is no payload of ours. */
export function present<Value>(
  bytes: Uint8Array,
  read: (bytes: Uint8Array) => Value,
): Value | null | undefined {
  if (bytes[0] === isValue) return read(bytes)
  if (bytes.length === 1 && bytes[0] === isNull) return null
  if (bytes.length === 1 && bytes[0] === isUndefined) return undefined
  throw new Error('malformed payload: neither a value nor the absence of one')
}
