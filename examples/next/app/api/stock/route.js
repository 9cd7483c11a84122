import { cacheLife, cacheTag } from 'next/cache'
import { query } from '../../../source.js'

// Asked at each request; what it asks for is kept.
export const dynamic = 'force-dynamic'

async function stock(item) {
  'use cache'
  cacheLife('hours')
  cacheTag('stock')
  return query(`stock of ${item}`)
}

export async function GET(request) {
  const item = new URL(request.url).searchParams.get('item') ?? 'keyboards'
  return Response.json({ text: await stock(item) })
}
