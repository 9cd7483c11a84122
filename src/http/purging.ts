/** Taking back what is kept: by URL, by tag, by a change that went past, and by HTTP for who has the token. */
import { createHash, timingSafeEqual } from 'node:crypto'
import type { Resource } from '../api.ts'
import { BreakwaterError, invalidOption } from '../core/errors.ts'
import { addressOf, plainKeys, urlTag } from './address.ts'
import { textAnswer, type Answer } from './answer.ts'
import { canonicalUrl } from './canonical-url.ts'
import { tagsIn } from './labels-in.ts'
import { field, type Head, type HttpRequest } from './message.ts'
import type { PurgeOptions } from './purges.ts'
import type { Roles } from './request-fields.ts'
import type { Ask, Kept } from './responses.ts'
import type { HttpRules, RouteRules } from './rules.ts'

export class Purging {
  readonly #rules: HttpRules
  readonly #responses: Resource<Ask, Kept>
  readonly #roles: Roles

  constructor(rules: HttpRules, responses: Resource<Ask, Kept>, roles: Roles) {
    this.#rules = rules
    this.#responses = responses
    this.#roles = roles
  }

  /** Of an absolute URL, or of a path where the host is not in the key; over both schemes. */
  async url(url: string | URL, options?: PurgeOptions): Promise<void> {
    const { host, path } = this.#partsOf(String(url))
    const { key } = canonicalUrl(path, this.#rules.route.query)
    await this.#keys(plainKeys(host, key), urlTag(host, key), options?.soft === true)
  }

  async tags(tags: string | readonly string[], options?: PurgeOptions): Promise<void> {
    const { cache } = this.#rules
    await (options?.soft === true ? cache.expireTags(tags) : cache.invalidateTags(tags))
  }

  /** RFC 9111, 4.4: a method that may change things did, and what is kept of its URL is of before. */
  afterChange(request: HttpRequest, route: RouteRules, head: Head): void {
    const { method } = request
    if (method === 'OPTIONS' || method === 'TRACE' || head.status < 200 || head.status > 399) return
    const { host = '' } = request.fields
    const { location, 'content-location': content } = head.fields
    const targets = [String(location ?? ''), String(content ?? '')].filter(Boolean)
    // Its own as it came, as a GET of it does; an absolute one has its path to be found.
    const isPath = request.url.startsWith('/')
    const own = isPath ? request.url : sameOrigin(request.url, String(host), request)
    const others = targets.map((target) => sameOrigin(target, String(host), request))
    for (const url of new Set([own, ...others])) {
      if (url !== undefined) void this.#byAddress(request, route, url).catch(() => {})
    }
  }

  /** `PURGE`, with `Authorization: Bearer …`; of the tags in `Surrogate-Key` or `Cache-Tag`, else of its URL. */
  async byRequest(request: HttpRequest, route: RouteRules): Promise<Answer> {
    if (!this.#isAllowed(field(request.fields, 'authorization'))) {
      return textAnswer(401, 'A token is needed.', { 'www-authenticate': 'Bearer' })
    }
    const isSoft = field(request.fields, 'soft-purge') === '1'
    try {
      const tags = tagsIn(request.fields)
      if (tags === 'too-many') return textAnswer(400, 'Too many tags, or too long ones.')
      if (tags.length > 0) await this.tags(tags, { soft: isSoft })
      else await this.#byAddress(request, route, request.url, isSoft)
      return textAnswer(200, isSoft ? 'Stale from now on.' : 'Gone.')
    } catch (error) {
      if (!(error instanceof BreakwaterError)) throw error
      // Done here, and repeated there until it is taken.
      return textAnswer(503, 'Gone in this process; the others are told when the store is back.')
    }
  }

  async #byAddress(
    request: HttpRequest,
    route: RouteRules,
    url: string,
    isSoft = false,
  ): Promise<void> {
    const fields: Record<string, string | readonly string[] | undefined> = {}
    for (const name in request.fields) {
      const role = this.#roles.get(name)
      if (role === undefined || role === 'keyed') fields[name] = request.fields[name]
    }
    delete fields['cache-control']
    const asGet = { ...request, method: 'GET', url, fields, isIdentified: false }
    const address = addressOf(
      this.#rules,
      { ...route, user: undefined, skip: undefined },
      this.#roles,
      asGet,
    )
    if (typeof address === 'string') return
    const { key, host, path } = address
    await this.#keys([...plainKeys(host, path), key], urlTag(host, path), isSoft)
  }

  async #keys(keys: readonly string[], tag: string, isSoft: boolean): Promise<void> {
    const asks = [...new Set(keys)].map((key) => ({ key }) as Ask)
    const { cache } = this.#rules
    await Promise.all(
      isSoft
        ? [this.#responses.expireMany(asks), cache.expireTags(tag)]
        : [this.#responses.invalidateMany(asks), cache.invalidateTags(tag)],
    )
  }

  #partsOf(url: string): { host: string; path: string } {
    const { keyHost, hosts } = this.#rules
    const isNamed = keyHost || hosts !== undefined
    const [, host, path = ''] = /^https?:\/\/([^/?#]+)([^#]*)/i.exec(url) ?? []
    if (host !== undefined) {
      return {
        host: isNamed ? host.toLowerCase() : '',
        path: path.startsWith('/') ? path : `/${path}`,
      }
    }
    if (!isNamed && url.startsWith('/')) return { host: '', path: url.split('#', 1)[0]! }
    throw invalidOption(
      'url',
      isNamed
        ? "an absolute URL such as 'https://example.com/path'"
        : "a path such as '/path?query'",
      url,
    )
  }

  #isAllowed(authorization: string | undefined): boolean {
    const [, token] = /^Bearer +(\S+)$/i.exec(authorization ?? '') ?? []
    if (token === undefined || this.#rules.purgeToken === undefined) return false
    return timingSafeEqual(digest(token), digest(this.#rules.purgeToken))
  }
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}

/** Only of the same host may a change tell (RFC 9111, 4.4): else one could purge another. */
function sameOrigin(target: string, host: string, request: HttpRequest): string | undefined {
  const base = `${request.isSecure ? 'https' : 'http'}://${host === '' ? 'localhost' : host}`
  try {
    // Two slashes at its start name no host here.
    const from = new URL(request.url.startsWith('/') ? base + request.url : request.url)
    const to = new URL(target, from)
    return to.host === from.host ? to.pathname + to.search : undefined
  } catch {
    return undefined
  }
}
