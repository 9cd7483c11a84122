/**
 * Tags: which ones an answer carries, and what Next.js does to them. Their number of entries does not
 * matter, and all instances hear at once.
 */
import type { Cache } from '../api.ts'

/** Next.js puts the tags of a page and of a route handler there. */
const tagsHeader = 'x-next-cache-tags'

/** Of what `set` is given. */
export function tagsOf(value: unknown, given: readonly string[] | undefined): readonly string[] {
  const { headers, tags } = (value ?? {}) as { headers?: object; tags?: unknown }
  const line = (headers as Record<string, unknown> | undefined)?.[tagsHeader]
  const ofHeader = typeof line === 'string' ? line.split(',') : []
  const own = Array.isArray(tags) ? (tags as readonly unknown[]) : []
  return textsOf([...ofHeader, ...own, ...(given ?? [])])
}

export function textsOf(tags: readonly unknown[]): readonly string[] {
  return tags.filter((tag) => typeof tag === 'string' && tag !== '') as string[]
}

interface Change {
  readonly tags: Set<string>
  readonly done: Promise<void>
}

/** What is changed in this very step, by cache: Next.js tells all its handlers, and they may share one. */
const changes = { gone: new WeakMap<Cache, Change>(), stale: new WeakMap<Cache, Change>() }

/** `expire`: seconds for which entries may still be served, while they are made anew; none: not at all. */
export async function changeTags(
  cache: Cache,
  tags: string | readonly string[],
  durations: { readonly expire?: number | undefined } | undefined,
): Promise<void> {
  const texts = textsOf(typeof tags === 'string' ? [tags] : tags)
  if (texts.length === 0) return
  const isGone = durations === undefined || durations.expire === 0
  const pending = changes[isGone ? 'gone' : 'stale']
  let change = pending.get(cache)
  if (change === undefined) {
    const all = new Set<string>()
    const send = (): Promise<void> => {
      pending.delete(cache)
      return isGone ? cache.invalidateTags([...all]) : cache.expireTags([...all])
    }
    // Without the store it holds here, and is repeated until it is taken.
    const done = Promise.resolve()
      .then(send)
      .catch(() => {})
    change = { tags: all, done }
    pending.set(cache, change)
  }
  for (const tag of texts) change.tags.add(tag)
  await change.done
}
