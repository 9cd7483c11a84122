/**
 * What a store needs to see of a frame without opening it: the same few bytes, at the same offsets,
 * that the Redis scripts look at. Nothing is verified here: whoever reads the frame does that.
 */
import { frameLayout as at } from '../core/frame.ts'

export function hasMagic(frame: Uint8Array): boolean {
  return frame[0] === at.magic >> 8 && frame[1] === (at.magic & 0xff)
}

/** `undefined`: not a frame of our version. */
export function stampOf(frame: Uint8Array | undefined): string | undefined {
  if (frame === undefined || frame.length < at.stampAt + at.stampLength) return undefined
  if (!hasMagic(frame) || frame[at.versionAt] !== at.version) return undefined
  return Buffer.from(frame.subarray(at.stampAt, at.stampAt + at.stampLength)).toString('latin1')
}

export function isNewer(frame: Uint8Array | undefined): boolean {
  return frame !== undefined && hasMagic(frame) && (frame[at.versionAt] ?? 0) > at.version
}

/** The new head before the body of the old frame. */
export function withHead(head: Uint8Array, old: Uint8Array): Uint8Array {
  const body = old.subarray(view(old).getUint32(at.headLengthAt))
  const frame = new Uint8Array(head.length + body.length)
  frame.set(head)
  frame.set(body, head.length)
  return frame
}

/** Ends freshness in place. Returns until when the frame may still be used; `undefined`: not at all. */
export function expireFrame(frame: Uint8Array, now: number): number | undefined {
  if (stampOf(frame) === undefined || frame.length < at.deltaAt + 8) return undefined
  const bytes = view(frame)
  const expiredAt = bytes.getFloat64(at.expiredAtAt)
  const freshUntil = bytes.getFloat64(at.freshUntilAt)
  const window = Math.max(
    bytes.getFloat64(at.staleWhileRevalidateAt),
    bytes.getFloat64(at.staleIfErrorAt),
  )
  const ended = Math.min(freshUntil, now, expiredAt > 0 ? expiredAt : Infinity)
  // NaN compares false: such a frame goes.
  if (!(window > 0 && ended + window > now)) return undefined
  // 0 means "not expired"; a clock for tests may begin there.
  bytes.setFloat64(at.expiredAtAt, Math.max(ended, Number.MIN_VALUE))
  return ended + window
}

function view(frame: Uint8Array): DataView {
  return new DataView(frame.buffer, frame.byteOffset, frame.byteLength)
}
