// What is encoded: payloads of realistic shape, deterministic by a seed, in several variants each,
// so that no codec sees one and the same text again and again.

import { randomFrom, type Random } from './random.ts'

export interface Product {
  readonly id: number
  readonly sku: string
  readonly title: string
  readonly brand: string
  readonly price: { readonly amount: number; readonly currency: string }
  readonly stock: number
  readonly rating: number
  readonly inStock: boolean
  readonly freeShipping: boolean
  readonly colour: string
  readonly tags: readonly string[]
  readonly image: string
}

export interface ProductPage {
  readonly category: string
  readonly page: number
  readonly total: number
  readonly products: readonly Product[]
}

export interface Payload {
  readonly title: string
  make(seed: number): unknown
  /** As plain JSON must have it, where it cannot keep the value itself: by hand, as one would. */
  readonly plain?: {
    to(value: never): unknown
    from(data: never): unknown
  }
}

export type PayloadName = keyof typeof payloads

const words =
  'the keys feel firm and quiet after a month of daily use though its cable could be longer für schöne Tage «à la carte» more people ask for another layout when they travel'.split(
    ' ',
  )
const brands = ['Northwind', 'Fjord', 'Kestrel', 'Marlow & Sons']
const colours = ['graphite', 'sand', 'moss', 'cobalt', 'rust']
const tags = ['wired', 'wireless', 'new', 'sale', 'tenkeyless', 'compact']

export function productOf(random: Random): Product {
  const id = random.upTo(1_000_000)
  const stock = random.upTo(140)
  return {
    id,
    sku: `KB-${String(id).padStart(6, '0')}`,
    title: `Mechanical keyboard ${random.upTo(500)}`,
    brand: random.of(brands),
    price: { amount: 999 + random.upTo(20_000), currency: 'EUR' },
    stock,
    rating: 1 + random.upTo(40) / 10,
    inStock: stock > 0,
    freeShipping: random.upTo(2) === 0,
    colour: random.of(colours),
    tags: [random.of(tags), random.of(tags)],
    image: `/images/${id}.webp`,
  }
}

export function pageOf(random: Random, products: number): ProductPage {
  return {
    category: 'keyboards',
    page: 1 + random.upTo(20),
    total: random.upTo(4_000),
    products: Array.from({ length: products }, () => productOf(random)),
  }
}

function textOf(random: Random, count: number): string {
  return Array.from({ length: count }, () => random.of(words)).join(' ')
}

function articleOf(random: Random): unknown {
  return {
    id: random.upTo(1_000_000),
    title: textOf(random, 8),
    author: textOf(random, 2),
    paragraphs: Array.from({ length: 12 }, () => textOf(random, 90)),
  }
}

function seriesOf(random: Random): unknown {
  let at = 1_700_000_000_000
  let level = 20
  const points = Array.from({ length: 500 }, () => {
    at += 60_000
    level += random.upTo(1_000) / 1_000 - 0.5
    return { at, value: level, samples: random.upTo(60) }
  })
  return { metric: 'room.temperature', unit: '°C', points }
}

interface Account {
  readonly id: bigint
  readonly name: string
  readonly createdAt: Date
  readonly seenAt: Date
  readonly limits: Map<string, number>
  readonly roles: Set<string>
  readonly orders: readonly {
    readonly id: bigint
    readonly placedAt: Date
    readonly cents: bigint
  }[]
}

function accountOf(random: Random): Account {
  const date = (): Date => new Date(1_700_000_000_000 + random.upTo(1_000_000_000))
  return {
    id: 2n ** 60n + BigInt(random.upTo(1_000_000)),
    name: textOf(random, 2),
    createdAt: date(),
    seenAt: date(),
    limits: new Map(tags.map((tag) => [tag, random.upTo(1_000)])),
    roles: new Set([random.of(brands), random.of(colours)]),
    orders: Array.from({ length: 25 }, () => ({
      id: 2n ** 59n + BigInt(random.upTo(1_000_000)),
      placedAt: date(),
      cents: BigInt(random.upTo(100_000)),
    })),
  }
}

interface PlainAccount {
  readonly id: string
  readonly name: string
  readonly createdAt: string
  readonly seenAt: string
  readonly limits: readonly (readonly [string, number])[]
  readonly roles: readonly string[]
  readonly orders: readonly {
    readonly id: string
    readonly placedAt: string
    readonly cents: string
  }[]
}

const accountByHand = {
  to: (it: Account): PlainAccount => ({
    id: String(it.id),
    name: it.name,
    createdAt: it.createdAt.toISOString(),
    seenAt: it.seenAt.toISOString(),
    limits: [...it.limits],
    roles: [...it.roles],
    orders: it.orders.map(({ id, placedAt, cents }) => ({
      id: String(id),
      placedAt: placedAt.toISOString(),
      cents: String(cents),
    })),
  }),
  from: (it: PlainAccount): Account => ({
    id: BigInt(it.id),
    name: it.name,
    createdAt: new Date(it.createdAt),
    seenAt: new Date(it.seenAt),
    limits: new Map(it.limits),
    roles: new Set(it.roles),
    orders: it.orders.map(({ id, placedAt, cents }) => ({
      id: BigInt(id),
      placedAt: new Date(placedAt),
      cents: BigInt(cents),
    })),
  }),
}

const sections = ['server', 'database', 'features', 'logging', 'queue', 'mail', 'search', 'limits']

/** Six levels, few lists, hardly a shape that comes twice. */
function configOf(random: Random): unknown {
  const level = (depth: number): Record<string, unknown> => {
    const own: Record<string, unknown> = {
      enabled: random.upTo(2) === 0,
      timeoutMs: random.upTo(30_000),
      [`name${random.upTo(50)}`]: random.of(words),
      ratio: random.upTo(1_000) / 1_000,
      note: null,
    }
    if (depth === 0) return own
    const from = random.upTo(sections.length)
    for (let n = 0; n < 2; n += 1) {
      own[sections[(from + n) % sections.length] ?? 'server'] = level(depth - 1)
    }
    return own
  }
  return level(5)
}

function bufferOf(random: Random): Buffer {
  // Not from the pool, as what is read from a file or an answer is not.
  const bytes = Buffer.allocUnsafeSlow(5 * 1024)
  for (let at = 0; at < bytes.length; at += 1) bytes[at] = random.upTo(256)
  return bytes
}

export const payloads = {
  product: {
    title: 'one product',
    make: (seed: number) => productOf(randomFrom(seed)),
  },
  page: {
    title: 'a page of 20 products',
    make: (seed: number) => pageOf(randomFrom(seed), 20),
  },
  list: {
    title: '200 products',
    make: (seed: number) => pageOf(randomFrom(seed), 200),
  },
  texts: {
    title: 'an article of 12 paragraphs',
    make: (seed: number) => articleOf(randomFrom(seed)),
  },
  series: {
    title: 'a time series of 500 points',
    make: (seed: number) => seriesOf(randomFrom(seed)),
  },
  mixed: {
    title: 'dates, bigints, a Map and a Set (plain JSON: converted by hand)',
    make: (seed: number) => accountOf(randomFrom(seed)),
    plain: accountByHand,
  },
  buffer: {
    title: 'a Buffer of 5 KiB (plain JSON: base64 by hand)',
    make: (seed: number) => bufferOf(randomFrom(seed)),
    plain: {
      to: (it: Buffer): string => it.toString('base64'),
      from: (text: string): Buffer => Buffer.from(text, 'base64'),
    },
  },
  config: {
    title: 'a configuration of six levels',
    make: (seed: number) => configOf(randomFrom(seed)),
  },
} satisfies Readonly<Record<string, Payload>>
