/** The labels that an entry is stored with: its definition's, those of its value, those that its loader said. */
import type { Label } from '../core/labels.ts'
import type { TagRules } from './entry-rules.ts'
import { labelsFor, mostTags, tooMany } from './labels-for.ts'

const none: readonly Label[] = Object.freeze([])

/** Throws what the user's function throws, and `INVALID_OPTION` for what is no list of texts. */
export function tagsOf(
  rules: TagRules,
  value: unknown,
  arg: unknown,
  said: readonly Label[] = none,
): readonly Label[] {
  const computed = rules.of === undefined ? none : labelsFor(rules.of(value, arg), 'tags')
  const labels = union(rules.fixed, computed, said)
  if (labels.length > mostTags) throw tooMany(labels.length)
  return labels
}

export function union(...lists: readonly (readonly Label[])[]): readonly Label[] {
  const filled = lists.filter((list) => list.length > 0)
  return filled.length > 1 ? [...new Set(filled.flat())] : (filled[0] ?? none)
}
