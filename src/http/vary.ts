/**
 * Which fields of a request chose an answer (`Vary`; RFC 9110, 12.5.5), and their values as one text:
 * two requests have the same text only if the answer to one is the answer to the other (RFC 9111, 4.1).
 */
import { acceptedCodings } from './acceptable.ts'
import { field, type Fields } from './message.ts'

const token = /^[!#$%&'*+\-.^_`|~0-9a-z]+$/

/** Lower-case, sorted, without duplicates. What is no name of a field may mean anything: `*`. */
export function varies(fields: Fields): readonly string[] | '*' {
  const text = field(fields, 'vary')
  if (text === undefined) return []
  const names = new Set<string>()
  for (const part of text.split(',')) {
    const name = part.trim().toLowerCase()
    if (name === '') continue
    if (name === '*' || !token.test(name)) return '*'
    names.add(name)
  }
  return [...names].toSorted()
}

/** Says which is absent, too. Empty without names. */
export function selectionOf(names: readonly string[], request: Fields): string {
  if (names.length === 0) return ''
  return JSON.stringify(
    names.map((name) => {
      const text = field(request, name)
      if (text === undefined) return [name]
      return [name, name === 'accept-encoding' ? acceptedCodings(text).join() : normalized(text)]
    }),
  )
}

/** Those fields of a request that are there, as they came. */
export function selecting(names: readonly string[], request: Fields): Fields {
  const chosen: Record<string, string | readonly string[]> = {}
  for (const name of names) {
    const value = Object.hasOwn(request, name) ? request[name] : undefined
    if (value !== undefined && name !== '__proto__') chosen[name] = value
  }
  return chosen
}

/** The field an answer goes out with: what it says itself, and what else it is chosen by. */
export function mergedVary(said: string | undefined, names: readonly string[]): string {
  const merged = new Map<string, string>()
  for (const part of [...(said ?? '').split(','), ...names]) {
    const name = part.trim()
    if (name === '*') return '*'
    const lower = name.toLowerCase()
    if (name !== '' && !merged.has(lower)) merged.set(lower, name)
  }
  return [...merged.values()].join(', ')
}

const quotedOrComma = /"(?:[^"\\]|\\[^])*"|[\t ]*,[\t ]*/g

/** Without the whitespace that lists may have; none is taken out of quoted strings. */
function normalized(text: string): string {
  const trimmed = text.replace(/^[\t ]+|[\t ]+$/g, '')
  if (!/[,"]/.test(trimmed)) return trimmed
  return trimmed.replace(quotedOrComma, (part) => (part.startsWith('"') ? part : ','))
}
