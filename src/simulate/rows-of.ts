import { everything, resourceLabel, tagLabel, type Label } from '../core/labels.ts'
import type { Row, Source } from './source.ts'

/** Rows whose entries carry one of these labels. */
export function rowsOf(source: Source, labels: readonly Label[]): readonly Row[] {
  return source.rows.filter((row) => labels.some((label) => carries(row, label)))
}

function carries({ of, tag }: Row, label: Label): boolean {
  if (label === everything || label === resourceLabel(of)) return true
  return tag !== '' && label === tagLabel(tag, (text) => text)
}

/** A tag, rather than a resource or everything. */
export function isByTag(labels: readonly Label[]): boolean {
  return labels.every((label) => !label.startsWith('@') || label.startsWith('@@'))
}
