/** The way back: replaces the marks in freshly decoded data, in place, from the inside out. */

/** What the mark stands for, given its data still unrevived; `undefined`: it is no mark. */
export interface Marks {
  dataOf(value: object): { readonly tag: number | string; readonly data: unknown } | undefined
  unmark(tag: number | string, data: unknown): unknown
}

/** Recursion ends where the stack does: bytes nested that deeply are not ours, and it throws. */
export function revive(value: unknown, marks: Marks): unknown {
  if (typeof value !== 'object' || value === null) return value
  const found = marks.dataOf(value)
  if (found !== undefined) return marks.unmark(found.tag, revive(found.data, marks))
  if (Array.isArray(value)) {
    for (let i = 0; i < value.length; i++) {
      const item: unknown = value[i]
      if (typeof item === 'object' && item !== null) value[i] = revive(item, marks)
    }
  } else if (!ArrayBuffer.isView(value)) {
    const record = value as Record<string, unknown>
    for (const name of Object.keys(record)) {
      const field = record[name]
      // An own property is there already, so this never reaches a setter of the prototype.
      if (typeof field === 'object' && field !== null) record[name] = revive(field, marks)
    }
  }
  return value
}
