/**
 * What a change by tag is about, as text: a tag, a resource, one entry that settles, or all of a
 * namespace. The last three begin with `@`; a tag that does is written with two, so that no tag can
 * name anything but itself.
 */
import { escapeKey } from './escape.ts'
import { shortKey } from './keys.ts'

export type Label = string

export const everything: Label = '@*'

export function resourceLabel(name: string): Label {
  return `@r:${escapeKey(name)}`
}

export function keyLabel(key: string): Label {
  return `@k:${escapeKey(key)}`
}

/** Any text; over 512 bytes it is hashed. */
export function tagLabel(tag: string, digest: (text: string) => string): Label {
  // Escaped, since UTF-8 would make all lone surrogates the same.
  const text = escapeKey(shortKey(tag, digest))
  return text.startsWith('@') ? `@${text}` : text
}
