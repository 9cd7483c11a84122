import { revalidatePath, revalidateTag } from 'next/cache'

// POST /api/revalidate?tag=stock or ?path=/posts/1; with &profile=max the old one is served until the
// new one is there.
export async function POST(request) {
  const { searchParams } = new URL(request.url)
  const tag = searchParams.get('tag')
  const path = searchParams.get('path')
  if (tag !== null) revalidateTag(tag, searchParams.get('profile') ?? { expire: 0 })
  if (path !== null) revalidatePath(path)
  return Response.json({ tag, path })
}
