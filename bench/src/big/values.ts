// The two big values, the same in every process.

import { pageOf, type ProductPage } from '../codecs/payloads.ts'
import { randomFrom } from '../codecs/random.ts'
import type { BigKind } from './plan.ts'

const bufferBytes = 10_000_000
const pageCount = 3_800
const productsPerPage = 20

export type Big = Buffer | readonly ProductPage[]

export function bigValue(kind: BigKind): Big {
  const random = randomFrom(7)
  if (kind === 'pages') {
    const pages = Array.from({ length: pageCount }, () => pageOf(random, productsPerPage))
    // As a database's driver gives them: text that was put together here would be copied into one
    // piece by whoever reads it first, and that would be the encoder.
    return JSON.parse(JSON.stringify(pages)) as ProductPage[]
  }
  const bytes = Buffer.allocUnsafeSlow(bufferBytes)
  for (let at = 0; at < bytes.length; at += 4) bytes.writeUInt32LE(random.upTo(2 ** 32), at)
  return bytes
}
