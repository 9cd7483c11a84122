// Checked by `npm run types`, never run: which codecs go with which values.

import { create } from '@bufbuild/protobuf'
import { encrypted } from '../../src/codecs/encrypted.ts'
import { json } from '../../src/codecs/json.ts'
import { defineCodec } from '../../src/codecs/own.ts'
import { protobuf } from '../../src/codecs/protobuf.ts'
import { v8 } from '../../src/codecs/v8.ts'
import { createCache } from '../../src/index.ts'
import type { Resource } from '../../src/index.ts'
import { is, type Same } from '../support/types.ts'
import { ProductSchema, SizeSchema } from '../support/proto-types.ts'
import type { Product } from '../support/proto-types.ts'

const cache = createCache({ namespace: 'shop', ttl: '60s', codec: json() })

// A codec for messages goes with a loader of such messages, also where they may not exist.
const product = cache.define({
  name: 'product',
  load: () => create(ProductSchema, { name: 'x' }),
  codec: protobuf(ProductSchema),
})
is<Same<typeof product, Resource<void, Product>>>(true)
cache.define({
  name: 'maybe',
  load: (id: number): Product | null => (id === 0 ? null : create(ProductSchema)),
  codec: protobuf(ProductSchema),
})
// A loader that takes `ctx`, and options that take its value, are inferred beside it.
const tagged = cache.define({
  name: 'tagged',
  codec: protobuf(ProductSchema),
  load: async (id: number, ctx) =>
    ctx.signal.aborted ? null : create(ProductSchema, { stock: id }),
  tags: (found, id) => [`${found?.name}:${id}`],
})
is<Same<typeof tagged, Resource<number, Product | null>>>(true)
cache.define({
  name: 'wrapped',
  load: () => create(ProductSchema),
  codec: encrypted({ codec: protobuf(ProductSchema), keys: {} }),
})

cache.define({
  name: 'other message',
  // @ts-expect-error -- of another type
  load: () => create(SizeSchema),
  codec: protobuf(ProductSchema),
})
cache.define({
  name: 'no message',
  // @ts-expect-error -- a list of messages is no message
  load: () => [create(ProductSchema)],
  codec: protobuf(ProductSchema),
})

// One's own goes with its type.
const dates = defineCodec<Date>({
  name: 'dates',
  id: 128,
  encode: (date) => Buffer.from(String(date.getTime())),
  decode: (bytes) => new Date(Number(bytes.toString())),
})
cache.define({ name: 'date', load: (): Date | undefined => new Date(), codec: dates })
cache.define({
  name: 'text',
  // @ts-expect-error -- text is no date
  load: () => 'text',
  codec: dates,
})

// Those for everything go with everything.
cache.define({ name: 'any', load: () => new Map([[1, new Date()]]), codec: v8() })
cache.define({ name: 'sealed', load: () => [1n], codec: encrypted({ keys: { a: 'key' } }) })
createCache({ namespace: 'sealed', ttl: '60s', codec: encrypted({ codec: v8(), keys: {} }) })
const sealed = cache.define({
  name: 'sealed, inferred',
  codec: encrypted({ keys: {} }),
  load: async (id: number, ctx) => `${id}:${ctx.key}`,
  tags: (text) => [text],
})
is<Same<typeof sealed, Resource<number, string>>>(true)
