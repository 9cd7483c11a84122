// What codecs and compressions of breakwater are inside: the very functions that a hit runs. Their
// public types are opaque; this bench alone calls them without a cache.

import { encrypted } from 'breakwater/codecs/encrypted'
import { json } from 'breakwater/codecs/json'
import { msgpack } from 'breakwater/codecs/msgpack'
import { protobuf } from 'breakwater/codecs/protobuf'
import { v8 } from 'breakwater/codecs/v8'
import type { Codec } from 'breakwater'
import { PageSchema, ProductSchema } from './product-message.ts'

interface Inside {
  encode(value: unknown): Uint8Array
  decode(bytes: Uint8Array): unknown
  decodeFrozen?(bytes: Uint8Array): unknown
  readonly seal?: {
    close(bytes: Uint8Array, context: string): Uint8Array
    open(bytes: Uint8Array, context: string): Uint8Array
  }
}

/** From a value to what the store gets, without compression, and back. */
export interface Coding {
  readonly name: string
  encode(value: unknown): Uint8Array
  decode(bytes: Uint8Array): unknown
  /** As a hit does by default. */
  decodeFrozen(bytes: Uint8Array): unknown
}

interface Compressing {
  compress(bytes: Uint8Array): Uint8Array
  decompress(bytes: Uint8Array, length: number): Uint8Array
}

// No subpath of the package, so taken from where it is built.
const built = (file: string): Promise<unknown> =>
  import(new URL(`../../../dist/${file}`, import.meta.url).href)
const { deepFreeze } = (await built('core/freeze.js')) as { deepFreeze(value: unknown): unknown }
const { compressions } = (await built('compression/compressions.js')) as {
  compressions: { named(name: string, option: string): Compressing }
}

const context = 'bench\nbench:page'
const keys = { bench: 'c0ffee00'.repeat(8) }

export type CodingName = keyof typeof codings

export const codings = {
  'json()': () => coding('json()', json()),
  'msgpack()': () => coding('msgpack()', msgpack()),
  'protobuf(Product)': () => coding('protobuf(Product)', protobuf(ProductSchema)),
  'protobuf(Page)': () => coding('protobuf(Page)', protobuf(PageSchema)),
  'v8()': () => coding('v8()', v8()),
  'encrypted(msgpack())': () => coding('encrypted(msgpack())', encrypted({ keys })),
} satisfies Readonly<Record<string, () => Coding>>

function coding(name: string, codec: Codec): Coding {
  const inside = codec as unknown as Inside
  const { seal } = inside
  const frozen = (bytes: Uint8Array): unknown =>
    inside.decodeFrozen ? inside.decodeFrozen(bytes) : deepFreeze(inside.decode(bytes))
  if (seal === undefined) {
    return {
      name,
      encode: (value) => inside.encode(value),
      decode: (bytes) => inside.decode(bytes),
      decodeFrozen: frozen,
    }
  }
  return {
    name,
    encode: (value) => seal.close(inside.encode(value), context),
    decode: (bytes) => inside.decode(seal.open(bytes, context)),
    decodeFrozen: (bytes) => frozen(seal.open(bytes, context)),
  }
}

/** Throws where this process has it not. */
export function compressionOf(name: string): Compressing {
  return compressions.named(name, 'compress.algorithm')
}
