/**
 * The fields of an answer that are stored with it (RFC 9111, 3.1): not those of one connection, nor
 * what is reckoned anew for whoever is answered: length and age. Runs once for each stored answer.
 */
import { field, type Fields } from './message.ts'

const ofConnections: ReadonlySet<string> = new Set([
  'connection',
  'keep-alive',
  'te',
  // Trailers are not kept.
  'trailer',
  'transfer-encoding',
  'upgrade',
  'http2-settings',
  'content-length',
  'age',
  // Of no answer, and no name that a record can have.
  '__proto__',
])

/** For all who are given the content: `Connection` must not name them (RFC 9110, 7.6.1). */
const forAll: ReadonlySet<string> = new Set([
  'cache-control',
  'content-encoding',
  'content-type',
  'etag',
  'expires',
  'vary',
])

export function isOfConnection(name: string): boolean {
  return ofConnections.has(name) || name.startsWith('proxy-')
}

export function storedFields(fields: Fields, omit?: ReadonlySet<string>): Fields {
  const named = fields['connection'] === undefined ? undefined : namedBy(fields)
  const stored: Record<string, string | readonly string[]> = {}
  for (const name of Object.keys(fields)) {
    const value = fields[name]
    if (value === undefined || isOfConnection(name)) continue
    if (named?.has(name) === true || omit?.has(name) === true) continue
    stored[name] = value
  }
  return stored
}

function namedBy(fields: Fields): ReadonlySet<string> {
  const named = new Set<string>()
  for (const part of (field(fields, 'connection') ?? '').split(',')) {
    const name = part.trim().toLowerCase()
    if (!forAll.has(name)) named.add(name)
  }
  return named
}
