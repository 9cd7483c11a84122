/**
 * Which fields of an answer are its own. What layers between the cache and the visitor have set before
 * is theirs, and is set by them at each request, hit or not; but what they say of how an answer may be
 * used, and by what it is chosen, is said of this one as well.
 */
import type { Fields } from './message.ts'

/** What stood there before the application ran. */
export type Baseline = Readonly<Record<string, number | string | readonly string[] | undefined>>

/** They say what may become of an answer, whoever set them. */
const deciding = /cache-control$|^(?:expires|pragma|surrogate-key|cache-tag)$/

export function ownFields(fields: Fields, baseline: Baseline): Fields {
  const own: Record<string, string | readonly string[] | undefined> = {}
  for (const name in fields) {
    const theirs = baseline[name]
    const isTheirs = theirs !== undefined && String(theirs) === String(fields[name])
    if (!isTheirs || deciding.test(name)) own[name] = fields[name]
    else if (name === 'vary') own[name] = choosing(String(theirs))
  }
  return own
}

/**
 * A layer that has read a field may have told those further in, as one for languages does. Not so what
 * CORS and compression vary by: their work is on the answer itself, and done anew for each visitor.
 */
function choosing(vary: string): string | undefined {
  const names = vary
    .split(',')
    .map((name) => name.trim())
    .filter((name) => !/^(?:origin|accept-encoding|)$/i.test(name))
  return names.length === 0 ? undefined : names.join(', ')
}
