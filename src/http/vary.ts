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

/**
 * Without the whitespace that lists may have; none is taken out of quoted strings. By hand: visitors
 * send the text, and expressions would need the square of its length for long runs of spaces.
 */
function normalized(text: string): string {
  let kept = ''
  let from = 0
  let isQuoted = false
  for (let at = 0; at < text.length; at += 1) {
    const char = text.charCodeAt(at)
    if (char === quote) isQuoted = !isQuoted
    else if (char === backslash && isQuoted) at += 1
    else if (char === comma && !isQuoted) {
      kept += `${trimmed(text, from, at)},`
      from = at + 1
    }
  }
  // What a quote hides that nobody closes is left as it came, but for its end.
  return kept + trimmed(text, from, text.length)
}

/** Spaces and tabs alone: `trim` takes more, of which two values may differ. */
function trimmed(text: string, from: number, to: number): string {
  let start = from
  let end = to
  while (start < end && isSpace(text.charCodeAt(start))) start += 1
  while (end > start && isSpace(text.charCodeAt(end - 1))) end -= 1
  return text.slice(start, end)
}

const quote = 0x22
const comma = 0x2c
const backslash = 0x5c

function isSpace(char: number): boolean {
  return char === 0x20 || char === 0x09
}
