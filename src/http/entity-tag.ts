/** Entity tags, and when two are the same (RFC 9110, 8.8.3). */

const tag = /^(?:W\/)?"[\x21\x23-\x7e\x80-\uffff]*"$/

export function isEntityTag(text: string | undefined): text is string {
  return text !== undefined && tag.test(text)
}

export function isWeak(entityTag: string): boolean {
  return entityTag.startsWith('W/')
}

/** Byte for byte the same: for parts of a body. */
export function matchesStrongly(one: string, other: string): boolean {
  return one === other && !isWeak(one)
}

/** Of the same meaning: for whole answers. */
export function matchesWeakly(one: string, other: string): boolean {
  return opaque(one) === opaque(other)
}

function opaque(entityTag: string): string {
  return isWeak(entityTag) ? entityTag.slice(2) : entityTag
}
