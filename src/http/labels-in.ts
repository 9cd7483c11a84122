/** Tags that an answer carries in its fields: `Surrogate-Key` and `Cache-Tag`, as CDNs have them. */
import type { Fields } from './message.ts'

/** As many as an entry may have. */
const mostTags = 1_000
const longestTag = 1_024

/** What frameworks pass on of UTF-8 in a field is other text, by which nobody would invalidate. */
const usable = /^[ -~]+$/

/** `'too-many'`: not all of them can be kept, and without one the answer would outlive its change. */
export function tagsIn(fields: Fields): readonly string[] | 'too-many' {
  const tags = new Set<string>()
  // Lines that were joined have a comma between them.
  for (const tag of members(fields['surrogate-key'], /,?[\t ]+/)) tags.add(tag)
  for (const tag of members(fields['cache-tag'], ',')) tags.add(tag)
  if (tags.size > mostTags) return 'too-many'
  for (const tag of tags) if (tag.length > longestTag || !usable.test(tag)) return 'too-many'
  return [...tags]
}

function members(value: Fields[string], separator: string | RegExp): readonly string[] {
  if (value === undefined) return []
  const lines = typeof value === 'string' ? [value] : value
  return lines
    .flatMap((line) => line.split(separator).map((tag) => tag.trim()))
    .filter((tag) => tag !== '')
}
