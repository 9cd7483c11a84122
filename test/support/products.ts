// Values of realistic shape: pages of products, always the same.

export interface Product {
  id: number
  sku: string
  name: string
  description: string
  cents: number
  currency: string
  inStock: boolean
  rating: number
  tags: string[]
  updatedAt: string
}

const nouns = ['keyboard', 'mouse', 'headset', 'monitor', 'dock', 'cable', 'stand']
const words = 'compact quiet wired backlit ergonomic aluminium foldable braided curved'.split(' ')

export function product(id: number): Product {
  const noun = nouns[id % nouns.length]!
  const word = (n: number): string => words[(id * 7 + n * 3) % words.length]!
  return {
    id,
    sku: `SKU-${10_000 + id}`,
    name: `${word(0)} ${noun} ${id}`,
    description: `A ${word(1)}, ${word(2)} ${noun} with ${word(3)} parts`,
    cents: 999 + ((id * 37) % 90_000),
    currency: 'EUR',
    inStock: id % 3 !== 0,
    rating: 3 + (id % 20) / 10,
    tags: [noun, word(4)],
    updatedAt: `2026-11-${String((id % 28) + 1).padStart(2, '0')}T08:00:00Z`,
  }
}

export function page(n: number, size = 20): Product[] {
  return Array.from({ length: size }, (_, i) => product(n * size + i))
}
