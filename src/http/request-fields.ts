/**
 * What the fields of a request mean to a cache that stands before an application. One look at each
 * that came; whatever could change the answer is in the key, or the request goes past the cache.
 *
 * Invariant: nothing that a client can send without its being in the key changes what others get.
 */

/**
 * `credential`: it names a visitor. `keyed`: many frameworks build links and redirects of it, or choose
 * by it between routes, or a part and the whole page, and say so in no `Vary`; so it is part of the key. `override`: the application may answer for another method or another URL.
 * `precondition`: the answer depends on a state that only the application knows.
 */
export type Role = 'credential' | 'keyed' | 'override' | 'precondition' | 'cookie' | 'body'

const roles: Readonly<Record<Role, readonly string[]>> = {
  cookie: ['cookie'],
  credential: [
    'authorization',
    'proxy-authorization',
    'x-api-key',
    'api-key',
    'api_key',
    'x_api_key',
    'apikey',
    'x-auth-token',
    'x-access-token',
    'x-csrf-token',
    'x-session-id',
    'x-session-token',
    'x-user-id',
    'x-user',
    'x-forwarded-user',
    'x-forwarded-email',
    'x-forwarded-groups',
    'x-forwarded-preferred-username',
    'x-forwarded-access-token',
    'x-auth-request-user',
    'x-auth-request-email',
    'x-auth-request-access-token',
    'x-remote-user',
    'remote-user',
    'x-webauth-user',
    'x-amz-security-token',
    'x-amzn-oidc-data',
    'x-amzn-oidc-identity',
    'x-goog-iap-jwt-assertion',
    'x-goog-authenticated-user-email',
    'cf-access-jwt-assertion',
    'cf-access-authenticated-user-email',
    'x-ms-client-principal',
    'x-ms-token-aad-access-token',
    'x-client-cert',
    'x-ssl-client-cert',
    'x-forwarded-client-cert',
    'ssl-client-cert',
  ],
  keyed: [
    'forwarded',
    'x-forwarded-host',
    'x-forwarded-server',
    'x-forwarded-proto',
    'x-forwarded-protocol',
    'x-forwarded-scheme',
    'x-forwarded-ssl',
    'x-forwarded-port',
    'x-forwarded-prefix',
    'x-forwarded-path',
    'x-forwarded-uri',
    'x-forwarded-url',
    'x-envoy-original-path',
    'x-script-name',
    'x-scheme',
    'x-url-scheme',
    'x-host',
    'x-original-host',
    'front-end-https',
    'accept-version',
    'x-api-version',
    'x-requested-with',
    'x-pjax',
    'hx-request',
    'turbo-frame',
    'x-inertia',
    'rsc',
    'x-nextjs-data',
  ],
  override: [
    'x-http-method-override',
    'x-http-method',
    'x-method-override',
    'x-original-url',
    'x-rewrite-url',
    'x-original-uri',
    'x-middleware-subrequest',
  ],
  precondition: ['if-match', 'if-unmodified-since'],
  body: ['content-length', 'transfer-encoding'],
}

export type Roles = ReadonlyMap<string, Role>

/** With more names of credentials. */
export function rolesOf(credentials: readonly string[]): Roles {
  const known = new Map<string, Role>()
  for (const [role, names] of Object.entries(roles)) {
    for (const name of names) known.set(name, role as Role)
  }
  for (const name of credentials) known.set(name, 'credential')
  return known
}

const ofCaches = [
  'cache-control',
  'range',
  'if-none-match',
  'if-modified-since',
  'if-range',
  'upgrade',
]
const mostSpellings = 1_000

/** Sees of most requests, by the names of their lines alone, that nothing in them matters but the host. */
export class PlainLines {
  readonly #roles: Roles
  /** By the name as it came: is it one that matters? */
  readonly #spellings = new Map<string, boolean>()

  constructor(roles: Roles) {
    this.#roles = roles
  }

  /** The one `Host`; `undefined`: something else matters, or there is not just one. */
  hostOf(lines: readonly string[]): string | undefined {
    let host: string | undefined
    for (let n = 0; n < lines.length; n += 2) {
      const name = lines[n]!
      if (!(this.#spellings.get(name) ?? this.#learn(name))) continue
      if (host !== undefined || name.toLowerCase() !== 'host') return undefined
      host = lines[n + 1]!
    }
    return host
  }

  #learn(name: string): boolean {
    const lower = name.toLowerCase()
    const matters = lower === 'host' || this.#roles.has(lower) || ofCaches.includes(lower)
    if (this.#spellings.size >= mostSpellings) this.#spellings.clear()
    this.#spellings.set(name, matters)
    return matters
  }
}

/** Of `Forwarded` only what an answer may be built of: `for` and `by` differ with each client (RFC 7239). */
export function forwardedHostAndProto(text: string): string {
  return text
    .toLowerCase()
    .split(/[;,]/)
    .map((pair) => pair.trim())
    .filter((pair) => !/^(for|by)\s*=/.test(pair))
    .join(';')
}

/** What is left of a `Cookie` field without those that make no difference; empty: nothing. */
export function cookiesThatMatter(text: string, ignores: (name: string) => boolean): string {
  return text
    .split(';')
    .map((pair) => pair.trim())
    .filter((pair) => pair !== '' && !ignores(pair.split('=', 1)[0]!.trim()))
    .join('; ')
}
