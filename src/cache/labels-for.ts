/** Tags as users write them, to labels as the store knows them. */
import { BreakwaterError, describe } from '../core/errors.ts'
import { tagLabel, type Label } from '../core/labels.ts'
import { digest } from './digest.ts'

/** Of one entry: each is looked at whenever the entry is read from the store. */
export const mostTags = 1_000

/** Throws `INVALID_OPTION`; `option` names in it what was wrong. */
export function tooMany(tags: number, option = 'tags', most = mostTags): BreakwaterError {
  const text = `${option}: expected at most ${most} tags, got ${tags}`
  return new BreakwaterError('INVALID_OPTION', text)
}

export function labelsFor(tags: unknown, option: string, most = mostTags): readonly Label[] {
  const refuse = (expected: string, got: string): BreakwaterError =>
    new BreakwaterError('INVALID_OPTION', `${option}: expected ${expected}, got ${got}`)
  if (!Array.isArray(tags)) throw refuse('a list of texts', describe(tags))
  if (tags.length > most) throw tooMany(tags.length, option, most)
  const labels = new Set<Label>()
  for (const tag of tags as readonly unknown[]) {
    if (typeof tag !== 'string') throw refuse('texts only', describe(tag))
    labels.add(tagLabel(tag, digest))
  }
  return [...labels]
}
