import { unstable_cache } from 'next/cache'
import { query } from '../../../source.js'

export const revalidate = 3600

// None are rendered by the build: each is rendered once, when somebody asks for it.
export function generateStaticParams() {
  return []
}

export default async function Post({ params }) {
  const { id } = await params
  const read = unstable_cache(() => query(`post ${id}`), ['post', id], { tags: [`post-${id}`] })
  return <p id="text">{await read()}</p>
}
