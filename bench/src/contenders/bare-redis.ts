// The bare parts that reads and writes in Redis are compared with: a client and a codec, and nothing
// between them. `codec` is breakwater's own default; `msgpackr` is the same bytes without its checks;
// `JSON` is what most of the caches do.

import type { Codec } from 'breakwater'
import { msgpack } from 'breakwater/codecs/msgpack'
import { Packr } from 'msgpackr'
import { RESP_TYPES } from 'redis'
import { connectIoredis, connectNodeRedis } from './connect.ts'
import type { BareCodec, ClientName, Id, Item, Opened, Setting } from './contender.ts'

export async function open(
  client: ClientName,
  codec: BareCodec,
  setting: Setting,
): Promise<Opened> {
  const { encode, decode, text } = codings[codec]
  const wire = await openWire(client, setting.url, text)
  const keyOf = (id: Id): string => `${client}:${codec}:${id}`
  const write = (id: Id, item: Item) => wire.set(keyOf(id), encode(item), setting.ttlMs)
  return {
    get: async (id) => {
      const found = await wire.get(keyOf(id))
      if (found !== null) return decode(found)
      return fill(setting, id, write)
    },
    getMany: async (ids) => {
      const found = await wire.getMany(ids.map(keyOf))
      return found.map((it) => (it === null ? undefined : decode(it)))
    },
    set: write,
    close: wire.close,
  }
}

async function fill(
  { load }: Setting,
  id: Id,
  write: (id: Id, item: Item) => Promise<unknown>,
): Promise<Item> {
  const item = await load(id)
  await write(id, item)
  return item
}

interface Coding {
  readonly text: boolean
  encode(item: Item): Buffer | string
  decode(found: Buffer | string): Item
}

/** What a codec of breakwater is inside. Its type is opaque; this bench decodes with it alone. */
interface Bytewise {
  encode(value: unknown): Uint8Array
  decode(bytes: Uint8Array): unknown
}

const ours = bytewise(msgpack())
const plain = new Packr({ useRecords: true })
const codings: Readonly<Record<BareCodec, Coding>> = {
  codec: {
    text: false,
    encode: (item) => Buffer.from(ours.encode(item)),
    decode: (found) => ours.decode(found as Buffer) as Item,
  },
  msgpackr: {
    text: false,
    encode: (item) => plain.pack(item),
    decode: (found) => plain.unpack(found as Buffer) as Item,
  },
  JSON: {
    text: true,
    encode: (item) => JSON.stringify(item),
    decode: (found) => JSON.parse(found as string) as Item,
  },
}

function bytewise(codec: Codec): Bytewise {
  return codec as unknown as Bytewise
}

interface Wire {
  get(key: string): Promise<Buffer | string | null>
  getMany(keys: string[]): Promise<(Buffer | string | null)[]>
  set(key: string, found: Buffer | string, ttlMs: number): Promise<unknown>
  close(): Promise<void>
}

async function openWire(client: ClientName, url: string, text: boolean): Promise<Wire> {
  if (client === 'redis5') {
    const redis = await connectNodeRedis(url)
    const reader = text ? redis : redis.withTypeMapping({ [RESP_TYPES.BLOB_STRING]: Buffer })
    return {
      get: (key) => reader.get(key),
      getMany: (keys) => reader.mGet(keys),
      set: (key, found, ttlMs) =>
        redis.set(key, found, { expiration: { type: 'PX', value: ttlMs } }),
      close: async () => redis.destroy(),
    }
  }
  const redis = await connectIoredis(client, url)
  return {
    get: (key) => (text ? redis.get(key) : redis.getBuffer(key)),
    getMany: (keys) => (text ? redis.mget(keys) : redis.mgetBuffer(keys)),
    set: (key, found, ttlMs) => redis.set(key, found, 'PX', ttlMs),
    close: async () => redis.disconnect(),
  }
}
