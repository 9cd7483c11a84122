// Values of realistic shape: a product page, an object with nested arrays of objects. Deterministic
// by id, and of about the size asked for as MessagePack with records.

export interface Page {
  readonly id: number
  readonly sku: string
  readonly title: string
  readonly price: { readonly amount: number; readonly currency: string }
  readonly inStock: boolean
  readonly rating: number
  readonly tags: readonly string[]
  readonly variants: readonly Variant[]
  readonly reviews: readonly Review[]
}

interface Variant {
  readonly sku: string
  readonly colour: string
  readonly size: string
  readonly stock: number
  readonly price: number
}

interface Review {
  readonly author: string
  readonly stars: number
  readonly at: string
  readonly text: string
}

const colours = ['graphite', 'sand', 'moss', 'cobalt', 'rust']
const sizes = ['S', 'M', 'L', 'XL']
const words =
  'keys feel firm and quiet after a month of daily use though the cable could be longer'.split(' ')

export function productPage(id: number, kilobytes: number): Page {
  const items = Math.max(1, Math.round((kilobytes * 1024 - 220) / 96))
  return {
    id,
    sku: `KB-${String(id).padStart(6, '0')}`,
    title: `Mechanical keyboard ${id % 97}, tenkeyless`,
    price: { amount: 4_999 + (id % 300) * 10, currency: 'EUR' },
    inStock: id % 7 !== 0,
    rating: 3.5 + (id % 15) / 10,
    tags: ['keyboards', 'wired', `layout-${id % 5}`],
    variants: Array.from({ length: items }, (_, at) => ({
      sku: `KB-${id}-${at}`,
      colour: colours[(id + at) % colours.length] ?? 'graphite',
      size: sizes[at % sizes.length] ?? 'M',
      stock: (id * 31 + at * 7) % 140,
      price: 4_999 + at * 250,
    })),
    reviews: Array.from({ length: items }, (_, at) => ({
      author: `user-${(id * 17 + at * 3) % 9_973}`,
      stars: 1 + ((id + at) % 5),
      at: new Date(1_700_000_000_000 + (id * 3_600 + at) * 1_000).toISOString(),
      text: words.slice(at % 4, (at % 4) + 8).join(' '),
    })),
  }
}
