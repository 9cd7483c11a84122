import { crc } from '../cache/values.ts'
import { msgpack } from '../codecs/msgpack.ts'
import { openFrame } from '../core/frame.ts'
import type { CodecPort } from '../ports.ts'
import type { Origin, Source, Value } from './source.ts'

const codec = msgpack() as CodecPort

/** The load or write that made what is in this frame; `undefined`: none is in it. */
export function originOf(source: Source, frame: Uint8Array): Origin | undefined {
  const opened = openFrame(frame, crc)
  if (opened.type !== 'frame' || opened.payload.length === 0) return undefined
  const value = codec.decode(opened.payload) as Value
  return source.origins[value.o]
}
