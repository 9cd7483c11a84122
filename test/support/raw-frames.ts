// Reads and writes frames beside the cache, as another program could.

import { crc32 } from 'node:zlib'
import { frameLayout, openFrame, type OpenedFrame } from '../../src/core/frame.ts'
import type { Clock, Store, StorePort } from '../../src/ports.ts'

export type Opened = Extract<OpenedFrame, { type: 'frame' }>

export function rawFrames(store: Store, clock: Clock, namespace = 'test') {
  const session = (store as StorePort).open({
    namespace,
    clock,
    id: 'somebody-else-',
    onMessage: () => {},
    onBus: () => {},
    onReady: () => {},
    onFault: () => {},
  })
  return {
    async bytes(key: string): Promise<Uint8Array> {
      const bytes = await session.read(key)
      if (bytes === undefined) throw new Error(`nothing is stored as ${key}`)
      return bytes
    },
    async frame(key: string): Promise<Opened> {
      const opened = openFrame(await this.bytes(key), crc32)
      if (opened.type !== 'frame') throw new Error(`unreadable: ${opened.why}`)
      return opened
    },
    async write(key: string, frame: Uint8Array): Promise<void> {
      // As a write, so that nobody believes what is in memory.
      const stamp = Math.random().toString(36).slice(2).padEnd(22, '_').slice(0, 22)
      await session.write({ key, frame, lifeMs: 3_600_000, stamp, notAfter: Infinity })
    },
  }
}

/** With its checksums made right again: as a hostile writer would. */
export function signed(frame: Uint8Array): Uint8Array {
  const copy = Buffer.from(frame)
  const { headLengthAt, headCrcAt, flagsAt, stampAt, minHeadLength, body } = frameLayout
  if (copy.length < minHeadLength + body.payloadAt) return copy
  const at = copy.readUInt32BE(headLengthAt)
  if (at < minHeadLength || copy.length < at + body.payloadAt) return copy
  const headSeed = ((copy[flagsAt]! << 24) ^ at) >>> 0
  copy.writeUInt32BE(crc32(copy.subarray(stampAt, at), headSeed), headCrcAt)
  const codecs = (copy[at]! << 24) ^ (copy[at + body.compressionAt]! << 16)
  const bodySeed = (codecs ^ copy.readUInt32BE(at + body.rawLengthAt)) >>> 0
  copy.writeUInt32BE(crc32(copy.subarray(at + body.payloadAt), bodySeed), at + body.crcAt)
  return copy
}
