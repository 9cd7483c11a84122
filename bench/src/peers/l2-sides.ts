// The sides of l2-hit: the same pages in the same Redis, each side with a client of its own made
// with the same options (all defaults). Every read goes to Redis.

import { setTimeout as sleep } from 'node:timers/promises'
import { createCache, type Codec } from 'breakwater'
import { msgpack } from 'breakwater/codecs/msgpack'
import { redisStore } from 'breakwater/ioredis'
import { Redis as Redis5 } from 'ioredis'
import { Redis as Redis6 } from 'ioredis6'
import { Packr } from 'msgpackr'
import type { Side } from '../measure/pairs.ts'
import { productPage, type Page } from '../measure/product.ts'

export interface L2Plan {
  readonly url: string
  readonly client: 5 | 6
  readonly kilobytes: number
  readonly keys: number
  readonly reads: number
  readonly lanes: number
}

interface Sides {
  readonly sides: readonly Side[]
  readonly bytes: number
  close(): Promise<void>
}

/** What a codec of breakwater is inside. Its type is opaque; this bench decodes with it alone. */
interface Bytewise {
  encode(value: unknown): Uint8Array
  decode(bytes: Uint8Array): unknown
}

export async function l2Sides(plan: L2Plan): Promise<Sides> {
  const codec = bytewise(msgpack())
  const plain = new Packr({ useRecords: true })
  const bytes = Buffer.from(codec.encode(productPage(1, plan.kilobytes)))
  const ours = await breakwaterSide(plan)
  const made = [
    ours,
    await bareSide(plan, 'GET + codec', {
      encode: (page) => Buffer.from(codec.encode(page)),
      decode: (it) => codec.decode(it) as Page,
    }),
    await bareSide(plan, 'GET + msgpackr', {
      encode: (page) => plain.pack(page),
      decode: (it) => plain.unpack(it) as Page,
    }),
  ]
  return {
    sides: made,
    bytes: bytes.length,
    close: async () => {
      for (const { close } of made) await close()
    },
  }
}

type Closable = Side & { close(): Promise<void> }

async function breakwaterSide(plan: L2Plan): Promise<Closable> {
  const client = connect(plan)
  const cache = createCache({
    namespace: `bench-${plan.client}-${plan.kilobytes}`,
    store: redisStore({ client }),
    memory: false,
    storeTimeout: '5s', // a pause of a busy machine must not turn reads into loads
    ttl: '1h',
  })
  let loads = 0
  const pages = cache.define({
    name: 'pages',
    load: async (id: number) => {
      loads += 1
      return productPage(id, plan.kilobytes)
    },
  })
  for (let id = 0; id < plan.keys; id += 1) await pages.get(id)
  await cache.idle()
  await sleep(100)
  if (loads !== plan.keys) throw new Error(`breakwater loaded ${loads} of ${plan.keys} pages`)
  const read = lanes(plan, (id) => pages.get(id))
  return {
    name: 'breakwater',
    batch: async () => {
      const before = loads
      await read()
      if (loads !== before) throw new Error('breakwater loaded what Redis has')
    },
    close: async () => {
      await cache.close()
      client.disconnect()
    },
  }
}

async function bareSide(
  plan: L2Plan,
  name: string,
  how: { encode(page: Page): Buffer; decode(bytes: Buffer): Page },
): Promise<Closable> {
  const client = connect(plan)
  const keyOf = (id: number): string => `bare:${name}:${plan.client}:${plan.kilobytes}:${id}`
  for (let id = 0; id < plan.keys; id += 1) {
    await client.set(keyOf(id), how.encode(productPage(id, plan.kilobytes)), 'PX', 3_600_000)
  }
  const batch = lanes(plan, async (id) => {
    const bytes = await client.getBuffer(keyOf(id))
    if (bytes === null) throw new Error('the bare client found nothing')
    return how.decode(bytes)
  })
  return { name, batch, close: async () => client.disconnect() }
}

/** `lanes` callers, each reading one page after the other; no two read the same page at once. */
function lanes(plan: L2Plan, read: (id: number) => Promise<Page>): () => Promise<void> {
  let next = 0
  return async () => {
    let left = plan.reads
    const lane = async (): Promise<void> => {
      while (left > 0) {
        left -= 1
        const id = next
        next = (next + 1) % plan.keys
        const page = await read(id)
        if (page.id !== id) throw new Error(`asked for page ${id}, got ${page.id}`)
      }
    }
    await Promise.all(Array.from({ length: plan.lanes }, lane))
  }
}

function connect({ url, client }: L2Plan): Redis5 {
  // The two majors differ in types that are not used here.
  return client === 5 ? new Redis5(url) : (new Redis6(url) as unknown as Redis5)
}

function bytewise(codec: Codec): Bytewise {
  return codec as unknown as Bytewise
}
