/**
 * From a request to the key of its answer, or to the word why it goes past the cache. The key says
 * scheme, host, path with its prefix, query, the fields that frameworks build links of, and the
 * visitor where the route names one. Everything else that may choose an answer is `Vary`'s business.
 *
 * Injective: a URL that came over a socket has neither spaces nor control characters, so a space
 * separates the parts, and what may hold one is escaped.
 */
import { canonicalUrl, type CanonicalUrl } from './canonical-url.ts'
import type { Fields, HttpRequest } from './message.ts'
import { field } from './message.ts'
import { cookiesThatMatter, forwardedHostAndProto } from './request-fields.ts'
import type { PlainLines, Roles } from './request-fields.ts'
import type { HttpRules, RouteRules } from './rules.ts'

export type Past = 'method' | 'bypass' | 'request'

export interface Address {
  readonly key: string
  readonly host: string
  /** Path and query, in order. */
  readonly path: string
  /** As the application sees it: without what is ignored. */
  readonly url: string
  /** Fields of the request that are in the key, for a refresh that nobody asks for. */
  readonly keyed: Fields
  /** As the application sees them: without cookies that make no difference. */
  readonly fields: Fields
  /** It is kept for one visitor alone. */
  readonly isPersonal: boolean
  /** Nothing in the request's fields matters but its host, and what `Vary` may ask for. */
  readonly isPlain: boolean
  /** What purges it besides its key, where that says more than the URL. */
  readonly tag: string | undefined
}

const noFields: Fields = {}

const hostPattern = /^(?:[a-z0-9._-]+|\[[0-9a-f:.]+\])(?::\d{1,5})?$/
/** As llhttp lets them through, and one byte more is none of ours. */
const urlPattern = /^\/[\x21-\x22\x24-\x7e\x80-\u{10ffff}]*$/u

/** Fetch and reload, for which no answer is kept. */
const noStore = /(?:^|,)\s*no-store\s*(?:,|$)/i

/** Of a request of which a look at its lines has said all that matters. */
class PlainAddress implements Address {
  readonly key: string
  readonly host: string
  readonly path: string
  readonly url: string
  readonly keyed = noFields
  readonly isPersonal = false
  readonly isPlain = true
  readonly tag = undefined
  readonly #request: HttpRequest

  constructor(request: HttpRequest, host: string, url: CanonicalUrl) {
    this.key = (request.isSecure ? 'https://' : 'http://') + host + url.key
    this.host = host
    this.path = url.key
    this.url = url.shown
    this.#request = request
  }

  get fields(): Fields {
    return this.#request.fields
  }
}

/** As `addressOf` says it, for most requests and quicker; `undefined`: it takes more than that. */
export function plainAddressOf(
  rules: HttpRules,
  route: RouteRules,
  plain: PlainLines,
  request: HttpRequest,
): Address | undefined {
  const { lines, method, url } = request
  if (lines === undefined || request.isIdentified || (method !== 'GET' && method !== 'HEAD')) return
  if (route.vary.length > 0 || route.user !== undefined || route.skip !== undefined) return
  const named = plain.hostOf(lines)
  const host = named === undefined ? undefined : hostFor(rules, named)
  if (host === undefined || !urlPattern.test(url)) return
  return new PlainAddress(request, host, canonicalUrl(url, route.query))
}

export function addressOf(
  rules: HttpRules,
  route: RouteRules,
  roles: Roles,
  request: HttpRequest,
): Address | Past {
  const { method, fields } = request
  if (method !== 'GET' && method !== 'HEAD') return 'method'
  let key = request.isSecure ? 'https://' : 'http://'
  const host = hostOf(rules, fields)
  if (host === undefined || !urlPattern.test(request.url)) return 'bypass'
  const url = canonicalUrl(request.url, route.query)
  key += host + url.key
  let keyed: Record<string, string> | undefined
  let cookie: string | undefined
  let hasCredentials = request.isIdentified
  for (const name in fields) {
    const role = roles.get(name)
    if (role === undefined) continue
    const value = field(fields, name)
    if (value === undefined) continue
    switch (role) {
      case 'override':
      case 'precondition':
        return 'bypass'
      case 'body':
        if (value !== '0') return 'bypass'
        break
      case 'credential':
        hasCredentials = true
        break
      case 'cookie':
        cookie =
          rules.ignoresCookie === undefined ? value : cookiesThatMatter(value, rules.ignoresCookie)
        if (cookie !== '') hasCredentials = true
        break
      case 'keyed': {
        const text = name === 'forwarded' ? forwardedHostAndProto(value) : value
        if (text !== '') (keyed ??= {})[name] = text
        break
      }
    }
  }
  const control = fields['cache-control']
  if (control !== undefined && noStore.test(field(fields, 'cache-control')!)) return 'request'
  let user: string | undefined
  try {
    // Whatever is true to its author: a text, or the promise of an asynchronous one.
    if (route.skip?.(request)) return 'bypass'
    user = nameOf(route.user?.(request))
  } catch (error) {
    // Without its word nobody knows whose the answer is.
    rules.tell('user', error)
    return 'bypass'
  }
  if (user === undefined && hasCredentials) return 'bypass'
  if (keyed !== undefined) key += keyedText(keyed)
  for (const name of route.vary) key += ` ${name}=${escaped(field(fields, name) ?? '\0')}`
  if (user !== undefined) key += ` user=${escaped(user)}`
  return {
    key,
    host,
    path: url.key,
    url: url.shown,
    keyed: chosen(fields, keyed, route.vary),
    fields:
      cookie === undefined ? fields : { ...fields, cookie: cookie === '' ? undefined : cookie },
    isPersonal: user !== undefined,
    isPlain: false,
    tag: key.includes(' ') ? urlTag(host, url.key) : undefined,
  }
}

/** Empty is nobody. Throws where it names all visitors alike, as the promise of a name does. */
function nameOf(given: unknown): string | undefined {
  if (given === undefined || given === null || given === '') return undefined
  if (typeof given === 'string') return given
  if (given instanceof Promise) given.catch(() => {})
  throw new TypeError(`user: expected a text, or undefined for nobody, got ${typeof given}`)
}

/** All that is kept of one URL, whatever else is in its key. */
export function urlTag(host: string, url: string): string {
  return `//${host}${url}`
}

/** The keys of a URL that is asked for plainly, over both schemes. */
export function plainKeys(host: string, url: string): readonly string[] {
  return [`http://${host}${url}`, `https://${host}${url}`]
}

/** The host of the key: `undefined` where the request is not for us to answer. */
function hostOf(rules: HttpRules, fields: Fields): string | undefined {
  return hostFor(rules, field(fields, 'host') ?? field(fields, ':authority') ?? '')
}

function hostFor(rules: HttpRules, named: string): string | undefined {
  const host = named.toLowerCase()
  if (rules.hosts !== undefined && !rules.hosts.has(host)) return undefined
  if (!rules.keyHost && rules.hosts === undefined) return ''
  return host === '' || hostPattern.test(host) ? host : undefined
}

function keyedText(keyed: Record<string, string>): string {
  const names = Object.keys(keyed).toSorted()
  return names.map((name) => ` ${name}=${escaped(keyed[name]!)}`).join('')
}

const unsafe = /[^\x21-\x24\x26-\x7e]/gu

/** Neither a space nor a `%` stays. */
function escaped(text: string): string {
  return text.replace(unsafe, (char) => `%${char.codePointAt(0)!.toString(16)};`)
}

function chosen(
  fields: Fields,
  keyed: Record<string, string> | undefined,
  vary: readonly string[],
): Fields {
  if (keyed === undefined && vary.length === 0) return noFields
  const all: Record<string, string | readonly string[]> = {}
  for (const name of [...Object.keys(keyed ?? {}), ...vary]) {
    if (fields[name] !== undefined) all[name] = fields[name]
  }
  return all
}
