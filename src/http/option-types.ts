/** The public options of a response cache, whatever the framework. */
import type { Bytes, Cache, Duration } from '../api.ts'
import type { HttpRequest } from './message.ts'

type Opt<T> = { [K in keyof T]?: T[K] | undefined }

/** What a route may say differently. */
export interface RouteCacheOptions extends Opt<{
  /** Freshness of storable answers that carry none of their own. `0`: only those that do are stored. Default: the cache's. */
  ttl: Duration
  /** After freshness: serve stale at once, refresh in the background, for answers that do not say (RFC 5861). Default: the cache's. */
  staleWhileRevalidate: Duration
  /** After freshness: serve stale when the source answers 500, 502, 503 or 504, or fails (RFC 5861). Default: the cache's. */
  staleIfError: Duration
  /** Statuses that are stored without freshness of their own. With it, all that RFC 9110 lets be stored. Default `[200]`. */
  statuses: readonly number[]
  /**
   * Names the visitor, so that what is kept is for him alone. A request with credentials is answered
   * past the cache unless this names somebody; one without is everybody's. Default: nobody is named.
   */
  user: (request: HttpRequest) => string | undefined
  /** With `user`: answers with `Set-Cookie` are kept as well, and set again at each hit. Default `false`. */
  storeSetCookie: boolean
  /** True: past the cache, as if it were not there. */
  skip: (request: HttpRequest) => boolean
  /** Request fields that are part of the key besides those of `Vary`, as in `['accept-language']`; sent in `Vary`. */
  vary: readonly string[]
  /** Parameters of the query that are neither in the key nor seen by the application (`ignore`), or that alone are (`only`); `*` at the end stands for any. Order does not matter, unless `sort` is `false`. */
  query: Opt<{ ignore: readonly string[]; only: readonly string[]; sort: boolean }>
  /** Tags of every answer, besides those of its `Surrogate-Key` and `Cache-Tag`. */
  tags: readonly string[]
}> {}

export interface HttpCacheOptions
  extends
    RouteCacheOptions,
    Opt<{
      /** Part of every key, and the label in metrics and events. One for each response cache on the same `cache`. Default `'http'`. */
      name: string
      /** Host names (with their port, where one is sent) that are answered from the cache; others go past it. Default: all, each by itself. */
      hosts: readonly string[]
      /** `false`: the client's Host is not in the key. For sources that cannot see it. Default `true`. */
      keyHost: boolean
      /** Cookies that make no difference, removed before the application looks; `*` at the end stands for any. `true`: all of them. Default: none. */
      ignoreCookies: readonly string[] | true
      /** More request fields that identify a visitor, besides `Authorization`, `Cookie` and those in wide use (`X-Api-Key` …). */
      credentials: readonly string[]
      /** Bodies over this are streamed through and not kept. Default `'2MiB'`. */
      maxBodySize: Bytes
      /** An answer whose body takes longer is streamed through and not kept; nobody waits for it. Default `'10s'`. */
      bodyTimeout: Duration
      /** So long an address is remembered whose answer was not storable: its visitors wait for nobody. Default `'2m'`. */
      uncacheableFor: Duration
      /** Fields that come before `Cache-Control` (RFC 9213), in order. Default `['breakwater-cache-control', 'cdn-cache-control']`. */
      targets: readonly string[]
      /** Our name in `Cache-Status` (RFC 9211). `false`: none is sent. Default `'breakwater'`. */
      cacheStatus: string | false
      /** `Cache-Control` of requests is a wish that a visitor's reload makes: `true` grants it. Default `false`. */
      obeyRequest: boolean
      /** Lets whoever knows the token purge by HTTP: `PURGE` of a URL, or of the tags in `Surrogate-Key`. Default: nobody. */
      purge: { readonly token: string }
    }> {
  cache: Cache
}
