/**
 * Every option of `breakwater proxy`, once, in the order of `--help`: the command line, the file, the
 * environment and the page in docs/ are made from this table or compared with it.
 */

export type Kind = 'text' | 'list' | 'flag' | 'count' | 'size' | 'duration'

export interface ProxyOption {
  /** In the file. On the command line `--max-body`, in the environment `BREAKWATER_PROXY_MAX_BODY`. */
  readonly name: string
  readonly kind: Kind
  /** What stands for its value in `--help`. */
  readonly value?: string
  readonly about: string
  /** As somebody would type it. */
  readonly preset?: string
  readonly group: string
}

const [toClients, toOrigin, kept, run] = ['Listening:', 'The origin:', 'The cache:', 'Running:']

export const proxyOptions = [
  {
    name: 'origin',
    kind: 'text',
    value: 'url',
    group: toOrigin,
    about: 'where answers come from, such as http://127.0.0.1:3000',
  },
  {
    name: 'originCa',
    kind: 'text',
    value: 'file',
    group: toOrigin,
    about: 'certificate authority (PEM) of an https origin',
  },
  {
    name: 'originInsecure',
    kind: 'flag',
    group: toOrigin,
    about: 'accept any certificate of the origin',
  },
  {
    name: 'connections',
    kind: 'count',
    value: 'n',
    preset: '256',
    group: toOrigin,
    about: 'to the origin, of each process; further requests wait',
  },
  {
    name: 'connectTimeout',
    kind: 'duration',
    value: 'time',
    preset: '10s',
    group: toOrigin,
    about: 'to be connected, waiting for a free connection included; then 504',
  },
  {
    name: 'originTimeout',
    kind: 'duration',
    value: 'time',
    preset: '60s',
    group: toOrigin,
    about: 'for the head of an answer; then 504',
  },

  {
    name: 'port',
    kind: 'count',
    value: 'n',
    preset: '8080',
    group: toClients,
    about: 'for clients; 0: any that is free',
  },
  {
    name: 'host',
    kind: 'text',
    value: 'address',
    group: toClients,
    about: 'to listen on (default: all addresses)',
  },
  {
    name: 'hosts',
    kind: 'list',
    value: 'names',
    group: toClients,
    about: 'of the site, by comma: they are passed on and keep pages apart; others are not cached',
  },
  {
    name: 'trustProxy',
    kind: 'list',
    value: 'addresses',
    group: toClients,
    about:
      'of proxies before this one (10.0.0.0/8, by comma; or all): their X-Forwarded-* are believed',
  },
  {
    name: 'maxHeader',
    kind: 'size',
    value: 'size',
    preset: '16KiB',
    group: toClients,
    about: 'of a request’s or an answer’s head; then 431 or 502',
  },
  {
    name: 'maxBody',
    kind: 'size',
    value: 'size',
    preset: '100MiB',
    group: toClients,
    about: 'of a request’s body; then 413',
  },
  {
    name: 'idleTimeout',
    kind: 'duration',
    value: 'time',
    preset: '60s',
    group: toClients,
    about: 'without a byte in mid-message, on either side; then it is broken off',
  },
  {
    name: 'keepAlive',
    kind: 'duration',
    value: 'time',
    preset: '65s',
    group: toClients,
    about: 'how long a client’s connection may rest between requests',
  },

  {
    name: 'ttl',
    kind: 'duration',
    value: 'time',
    preset: '60s',
    group: kept,
    about: 'freshness of answers that may be kept and do not say how long; 0: not kept',
  },
  {
    name: 'staleWhileRevalidate',
    kind: 'duration',
    value: 'time',
    preset: '0',
    group: kept,
    about: 'after that: the old answer at once, one request refreshes it',
  },
  {
    name: 'staleIfError',
    kind: 'duration',
    value: 'time',
    preset: '0',
    group: kept,
    about: 'after that: the old answer while the origin fails',
  },
  {
    name: 'statuses',
    kind: 'list',
    value: 'codes',
    group: kept,
    about: 'that --ttl is for, by comma (default: as the library’s)',
  },
  {
    name: 'ignoreQuery',
    kind: 'list',
    value: 'names',
    group: kept,
    about: 'parameters that change no page, by comma: utm_*,fbclid',
  },
  {
    name: 'ignoreCookies',
    kind: 'list',
    value: 'names',
    group: kept,
    about: 'cookies that change no page, by comma; others are not cached',
  },
  {
    name: 'vary',
    kind: 'list',
    value: 'fields',
    group: kept,
    about: 'of the request that change a page, by comma, besides what Vary names',
  },
  {
    name: 'credentials',
    kind: 'list',
    value: 'fields',
    group: kept,
    about:
      'of the request that say who asks, by comma, besides the usual ones: such go past the cache',
  },
  {
    name: 'uncacheableFor',
    kind: 'duration',
    value: 'time',
    preset: '2m',
    group: kept,
    about: 'how long it is remembered that a page is not to be kept: its visitors wait for nobody',
  },
  {
    name: 'limit',
    kind: 'text',
    value: 'n',
    preset: 'adaptive',
    group: kept,
    about:
      'cold pages that the origin is asked for at once, by each process; more wait up to 5 s, then 503',
  },
  {
    name: 'maxCached',
    kind: 'size',
    value: 'size',
    preset: '2MiB',
    group: kept,
    about: 'of a body that is kept; longer ones only pass',
  },
  {
    name: 'memory',
    kind: 'size',
    value: 'size',
    preset: '64MiB',
    group: kept,
    about: 'for answers in each process',
  },
  {
    name: 'storeTimeout',
    kind: 'duration',
    value: 'time',
    preset: '100ms',
    group: kept,
    about: 'for an answer of Redis; then memory and origin alone',
  },
  {
    name: 'purgeToken',
    kind: 'text',
    value: 'token',
    group: kept,
    about: 'that PURGE needs as a Bearer; better in the environment',
  },
  {
    name: 'cacheStatus',
    kind: 'text',
    value: 'name',
    preset: 'breakwater',
    group: kept,
    about: 'of this cache in Cache-Status',
  },

  {
    name: 'adminPort',
    kind: 'text',
    value: 'n',
    preset: '9180',
    group: run,
    about: 'for /healthz and /metrics; 0: any that is free; off: none',
  },
  {
    name: 'adminHost',
    kind: 'text',
    value: 'address',
    preset: '127.0.0.1',
    group: run,
    about: 'to listen on for these',
  },
  {
    name: 'healthPath',
    kind: 'text',
    value: 'path',
    group: run,
    about: 'health on the clients’ port too, under this path',
  },
  {
    name: 'accessLog',
    kind: 'text',
    value: 'file',
    group: run,
    about: 'a JSON line per request, without query and credentials; -: stdout',
  },
  {
    name: 'grace',
    kind: 'duration',
    value: 'time',
    preset: '10s',
    group: run,
    about: 'for what runs when SIGTERM or SIGINT comes',
  },
  {
    name: 'workers',
    kind: 'count',
    value: 'n',
    preset: '1',
    group: run,
    about: 'processes that share the port',
  },
] as const satisfies readonly ProxyOption[]

export type OptionName = (typeof proxyOptions)[number]['name']

/** Options of the whole command that a proxy takes from its file and its environment as well. */
export const sharedOptions = [
  { name: 'redis', kind: 'text', about: '', group: '' },
  { name: 'namespace', kind: 'text', about: '', group: '' },
  { name: 'keyPrefix', kind: 'text', about: '', group: '' },
  { name: 'tlsCa', kind: 'text', about: '', group: '' },
  { name: 'tlsCert', kind: 'text', about: '', group: '' },
  { name: 'tlsKey', kind: 'text', about: '', group: '' },
  { name: 'insecure', kind: 'flag', about: '', group: '' },
  { name: 'timeout', kind: 'count', about: '', group: '' },
] as const satisfies readonly ProxyOption[]

export type SharedName = (typeof sharedOptions)[number]['name']
