/** What the processes that share filters tell each other: additions, or that a record has changed. */
import { asBuffer } from '../core/as-buffer.ts'
import { digestBytes, readDigests } from './digest-bytes.ts'
import type { Digest } from '../core/siphash.ts'

export type GuardMessage =
  | {
      readonly type: 'added'
      readonly name: string
      readonly epoch: string
      readonly digests: readonly Digest[]
    }
  | { readonly type: 'changed'; readonly name: string }

const added = 1
const changed = 2
const idLength = 16

export function addedMessage(name: string, epoch: string, digests: readonly Digest[]): Buffer {
  const head = Buffer.from([added, name.length])
  return Buffer.concat([head, Buffer.from(name + epoch, 'latin1'), digestBytes(digests)])
}

export function changedMessage(name: string): Buffer {
  return Buffer.concat([Buffer.from([changed, name.length]), Buffer.from(name, 'latin1')])
}

/** `undefined`: none of ours. */
export function readMessage(bytes: Uint8Array): GuardMessage | undefined {
  const [type, length = 0] = bytes
  const buffer = asBuffer(bytes)
  const name = buffer.toString('latin1', 2, 2 + length)
  if (type === changed) return { type: 'changed', name }
  if (type !== added) return undefined
  const from = 2 + length
  const epoch = buffer.toString('latin1', from, from + idLength)
  return { type: 'added', name, epoch, digests: readDigests(buffer.subarray(from + idLength)) }
}
