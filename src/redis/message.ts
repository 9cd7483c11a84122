/**
 * A message between processes as bytes: `b1`, a letter for its type, the token with its length
 * (u8), the escaped key with its length (u16), and the rest, which depends on the type. A beat has
 * its number and the master's name instead. What
 * cannot be read (another version, another program) is ignored: the bus promises no delivery.
 */
import { escapeKey, unescapeKey } from '../core/escape.ts'
import type { BumpRequest, BusMessage, ReleaseReason } from '../ports.ts'

const letters = {
  published: 'p',
  failed: 'f',
  released: 'r',
  invalidated: 'i',
  expired: 'e',
  written: 'w',
  wanted: 'q',
  bumped: 't',
  rollCall: 'c',
  present: 'h',
} as const

/** Letters of the kinds, here and in bump.lua. */
export const bumpKinds = { gone: 'g', expired: 'e', settle: 's' } as const

const reasons: ReadonlySet<string> = new Set<ReleaseReason>([
  'abort',
  'overload',
  'late',
  'private',
  'unstorable',
  'close',
])

/** The script that bumps puts three numbers between head and tail: epoch, previous, settling instant. */
export function encodeBump({ id, kind, labels }: BumpRequest): { head: Buffer; tail: Buffer } {
  const parts = labels.map((label) => {
    const text = Buffer.from(label)
    const part = Buffer.allocUnsafe(2 + text.length)
    part.writeUInt16BE(text.length, 0)
    part.set(text, 2)
    return part
  })
  return { head: envelope('bumped', id, '', bumpKinds[kind]), tail: Buffer.concat(parts) }
}

export function encodeMessage(message: Exclude<BusMessage, { type: 'bumped' }>): Buffer {
  switch (message.type) {
    case 'beat':
      return Buffer.from(`b1b${message.n} ${message.through}`)
    case 'published':
      return envelope(message.type, message.token, message.key, message.frame ?? '')
    case 'failed': {
      const rest = `${Math.ceil(message.backoffMs)} ${message.error}`
      return envelope(message.type, message.token, message.key, rest)
    }
    case 'released':
      return envelope(message.type, message.token, message.key, message.why)
    case 'invalidated':
    case 'expired':
    case 'written':
    case 'wanted':
      return envelope(message.type, message.id, message.key, '')
    case 'rollCall':
      return envelope(message.type, message.id, '', '')
    case 'present':
      return envelope(message.type, message.id, '', message.text)
  }
}

function envelope(
  type: keyof typeof letters,
  token: string,
  key: string,
  rest: string | Uint8Array,
): Buffer {
  const escaped = escapeKey(key)
  const size = Buffer.byteLength(escaped)
  const bytes = Buffer.allocUnsafe(6 + token.length + size + Buffer.byteLength(rest))
  bytes.write(`b1${letters[type]}`, 0, 'latin1')
  let at = bytes.writeUInt8(token.length, 3)
  at += bytes.write(token, at, 'latin1')
  at = bytes.writeUInt16BE(size, at)
  at += bytes.write(escaped, at)
  if (typeof rest === 'string') bytes.write(rest, at)
  else bytes.set(rest, at)
  return bytes
}

export function decodeMessage(message: Uint8Array): BusMessage | undefined {
  const bytes = Buffer.from(message.buffer, message.byteOffset, message.byteLength)
  if (bytes.length < 4 || bytes[0] !== 0x62 || bytes[1] !== 0x31) return undefined
  const letter = String.fromCharCode(bytes[2]!)
  if (letter === 'b') {
    const [, n, through] = /^(\d{1,15}) (.*)$/s.exec(bytes.toString('utf8', 3)) ?? []
    return through === undefined ? undefined : { type: 'beat', n: Number(n), through }
  }
  const tokenEnd = 4 + bytes[3]!
  if (bytes.length < tokenEnd + 2) return undefined
  const keyEnd = tokenEnd + 2 + bytes.readUInt16BE(tokenEnd)
  if (bytes.length < keyEnd) return undefined
  const token = bytes.toString('latin1', 4, tokenEnd)
  const key = unescapeKey(bytes.toString('utf8', tokenEnd + 2, keyEnd))
  return withRest(letter, token, key, bytes.subarray(keyEnd))
}

function withRest(
  letter: string,
  token: string,
  key: string,
  rest: Buffer,
): BusMessage | undefined {
  switch (letter) {
    case letters.published:
      return { type: 'published', key, token, frame: rest.length === 0 ? undefined : rest }
    case letters.failed: {
      const [, ms, error] = /^(\d+) (.*)$/s.exec(rest.toString()) ?? []
      if (ms === undefined || error === undefined) return undefined
      return { type: 'failed', key, token, error, backoffMs: Number(ms) }
    }
    case letters.released: {
      const why = rest.toString('latin1')
      if (!reasons.has(why)) return undefined
      return { type: 'released', key, token, why: why as ReleaseReason }
    }
    case letters.invalidated:
      return { type: 'invalidated', key, id: token }
    case letters.expired:
      return { type: 'expired', key, id: token }
    case letters.written:
      return { type: 'written', key, id: token }
    case letters.wanted:
      return { type: 'wanted', key, id: token }
    case letters.bumped:
      return readBump(token, rest)
    case letters.rollCall:
      return { type: 'rollCall', id: token }
    case letters.present:
      return { type: 'present', id: token, text: rest.toString() }
    default:
      return undefined
  }
}

function readBump(id: string, rest: Buffer): BusMessage | undefined {
  const letter = rest.toString('latin1', 0, 1)
  const kind = (Object.keys(bumpKinds) as (keyof typeof bumpKinds)[]).find(
    (name) => bumpKinds[name] === letter,
  )
  if (kind === undefined || rest.length < 25) return undefined
  const [epoch, previous, until] = [1, 9, 17].map((at) => rest.readDoubleBE(at)) as [
    number,
    number,
    number,
  ]
  if (!Number.isFinite(epoch + previous + until)) return undefined
  const labels: string[] = []
  for (let at = 25; at < rest.length;) {
    if (at + 2 > rest.length) return undefined
    const end = at + 2 + rest.readUInt16BE(at)
    if (end > rest.length) return undefined
    labels.push(rest.toString('utf8', at + 2, end))
    at = end
  }
  return { type: 'bumped', id, kind, labels, epoch, previous, until }
}
