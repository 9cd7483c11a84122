/** Path and query, as they are in a key, and as the application is shown them. */
import type { QueryRules } from './rules.ts'

export interface CanonicalUrl {
  readonly key: string
  readonly shown: string
}

/**
 * By name, and in their order among equal names: `?x=1&x=2` is not `?x=2&x=1`. Nor are those of one
 * name in two spellings, or parts of it to some parsers (`x`, `%78`, `x[y]`, `x.y`), put in another order.
 */
export function canonicalUrl(url: string, rules: QueryRules): CanonicalUrl {
  const at = url.indexOf('?')
  if (at < 0) return { key: url, shown: url }
  let parts = url.slice(at + 1).split('&')
  let shown = url
  if (rules.ignores !== undefined) {
    const { ignores } = rules
    const kept = parts.filter((part) => !ignores(decoded(part.split('=', 1)[0]!)))
    if (kept.length < parts.length) {
      parts = kept
      shown = url.slice(0, at) + (kept.length === 0 ? '' : `?${kept.join('&')}`)
    }
  }
  if (parts.length === 0) return { key: shown, shown }
  if (rules.sorts && parts.length > 1) {
    const named = parts.map((part) => ({ name: baseName(part), part }))
    parts = named
      .toSorted((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0))
      .map(({ part }) => part)
  }
  return { key: `${url.slice(0, at)}?${parts.join('&')}`, shown }
}

function baseName(part: string): string {
  const name = part.split('=', 1)[0]!
  return (/[%+]/.test(name) ? decoded(name) : name).split(/[[.]/, 1)[0]!
}

function decoded(name: string): string {
  try {
    return decodeURIComponent(name.replaceAll('+', ' '))
  } catch {
    return name
  }
}
