/** The cache before the origin. Where no hosts are configured, the origin cannot see the client's, nor can the key. */
import type { Cache } from 'breakwater'
import { httpCache, type HttpCache } from 'breakwater/http'
import { viaOf } from './intake.ts'
import type { Exchange } from './origin-answer.ts'
import type { ProxySettings } from './settings.ts'

export interface CachedHow {
  readonly cache: Cache
  readonly settings: ProxySettings
  readonly via: string
  forward(exchange: Exchange): void
}

/** Says who asks, where CGI and what is built on it take `_` for `-`: `api_key`, `X_User_Id`. */
const underscored = /^(?=.*_).*(?:auth|cert|identity|key|principal|session|token|user)/

export function cachedBy({ cache, settings, via, forward }: CachedHow): HttpCache {
  const { hosts, cache: rules } = settings
  const isAny = rules.ignoreCookies.includes('*')
  const cached: HttpCache = httpCache({
    cache,
    ttl: rules.ttlMs,
    staleWhileRevalidate: rules.staleWhileRevalidateMs,
    staleIfError: rules.staleIfErrorMs,
    statuses: rules.statuses,
    query: { ignore: rules.ignoreQuery },
    ignoreCookies: isAny ? true : rules.ignoreCookies,
    vary: rules.vary,
    credentials: rules.credentials,
    skip: ({ fields }) => Object.keys(fields).some((name) => underscored.test(name)),
    uncacheableFor: rules.uncacheableForMs,
    maxBodySize: rules.maxBytes,
    cacheStatus: rules.statusName,
    ...(hosts.length > 0 ? { hosts } : { keyHost: false }),
    ...(rules.purgeToken === undefined ? {} : { purge: { token: rules.purgeToken } }),
    // A refresh has not come in by the door where requests are marked.
    dispatch: (req, res) => {
      req.headers.via = viaOf(req.headers.via, '1.1', via)
      req.headers['x-forwarded-proto'] ??= 'http'
      cached(req, res, () => forward({ req, res, isHead: false }))
    },
  })
  return cached
}
