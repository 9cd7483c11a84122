/**
 * `--redis` and `REDIS_URL`: one server, a socket, Sentinel or a cluster, with or without TLS, with
 * the names and passwords that are needed. `shown` is the same without secrets.
 */
import { usage } from '../ending.ts'

export interface Node {
  readonly host: string
  readonly port: number
}

export type Address = {
  readonly shown: string
  readonly tls: boolean
  readonly username: string | undefined
  readonly password: string | undefined
  readonly db: number
} & (
  | { readonly type: 'single'; readonly node: Node }
  | { readonly type: 'socket'; readonly path: string }
  | { readonly type: 'cluster'; readonly nodes: readonly Node[] }
  | {
      readonly type: 'sentinel'
      readonly nodes: readonly Node[]
      readonly name: string
      readonly sentinelUsername: string | undefined
      readonly sentinelPassword: string | undefined
    }
)

const schemes = {
  'redis:': { type: 'single', tls: false },
  'rediss:': { type: 'single', tls: true },
  'redis+cluster:': { type: 'cluster', tls: false },
  'rediss+cluster:': { type: 'cluster', tls: true },
  'redis+sentinel:': { type: 'sentinel', tls: false },
  'rediss+sentinel:': { type: 'sentinel', tls: true },
} as const

const examples =
  'redis://localhost:6379, rediss://user:password@host/0, redis+cluster://h1:6379,h2:6379, ' +
  'redis+sentinel://h1:26379,h2:26379/master-name'

export function parseAddress(text: string): Address {
  if (text.startsWith('/') || text.startsWith('unix:')) return socketOf(text)
  const url = text.includes('://') ? text : `redis://${text}`
  const [, scheme = '', authority = '', path = '', query = ''] =
    /^([a-z+]+:)\/\/([^/?]*)([^?]*)\??(.*)$/i.exec(url) ?? []
  const kind = schemes[scheme.toLowerCase() as keyof typeof schemes] ?? refuse('a URL', scheme)
  // What comes behind the host in an unescaped password is not shown, nor looked for elsewhere.
  if (path.includes('@')) refuse('a password whose / ? # @ are %2F %3F %23 %40', 'one that is cut')
  const more = parametersOf(query, kind.type === 'sentinel' ? ofSentinels : [])
  const at = authority.lastIndexOf('@')
  const [username, password] = at < 0 ? [] : credentials(authority.slice(0, at))
  const hosts = authority.slice(at + 1)
  const usual = kind.type === 'sentinel' ? 26_379 : 6_379
  const nodes = hosts.split(',').map((host) => nodeOf(host, usual))
  const parts = path.split('/').slice(1).map(decoded)
  const shown = `${scheme}//${username === undefined ? '' : `${username}@`}${hosts}${path}`
  const common = { shown, tls: kind.tls, username, password }
  switch (kind.type) {
    case 'single':
      if (nodes.length > 1) refuse('one host, or redis+cluster:// or redis+sentinel://', hosts)
      return { ...common, type: 'single', node: nodes[0]!, db: dbOf(parts[0]) }
    case 'cluster':
      if (dbOf(parts[0]) !== 0) refuse('no database, since a cluster has but one', path)
      return { ...common, type: 'cluster', nodes, db: 0 }
    case 'sentinel': {
      const [name = '', db] = parts
      if (name === '') refuse('the name that the sentinels know the master by', path)
      const sentinelUsername = more.get('sentinelUsername') ?? undefined
      const sentinelPassword = more.get('sentinelPassword') ?? undefined
      const own = { nodes, name, db: dbOf(db), sentinelUsername, sentinelPassword }
      return { ...common, type: 'sentinel', ...own }
    }
  }
}

/** `/path`, or `unix://[user:password@]/path[?db=N]`. */
function socketOf(text: string): Address {
  const [, who, path = '', query = ''] = text.startsWith('/')
    ? [undefined, undefined, text]
    : (/^unix:(?:\/\/)?(?:([^/]*)@)?(\/(?!\/)[^?]*)\??(.*)$/.exec(text) ??
      refuse('unix://[user:password@]/path', 'no path that begins with /'))
  const [username, password] = who === undefined ? [] : credentials(who)
  const db = dbOf(parametersOf(query, ['db']).get('db') ?? '')
  return { type: 'socket', path, shown: path, username, password, db, tls: false }
}

const ofSentinels = ['sentinelUsername', 'sentinelPassword']
/** Of other programs' URLs: to pass over them would be to look somewhere else. */
const ofOthers = ['db', 'username', 'user', 'password', ...ofSentinels]

function parametersOf(query: string, known: readonly string[]): URLSearchParams {
  const given = new URLSearchParams(query)
  const stray = [...given.keys()].find((name) => ofOthers.includes(name) && !known.includes(name))
  if (
    stray !== undefined ||
    (query.split('&', 1)[0]?.includes('@') === true && known.length === 0)
  ) {
    refuse('user, password and database before the ?', stray ?? 'an @ behind it')
  }
  return given
}

function credentials(text: string): (string | undefined)[] {
  const colon = text.indexOf(':')
  const username = decoded(colon < 0 ? text : text.slice(0, colon))
  const password = colon < 0 ? undefined : decoded(text.slice(colon + 1))
  return [username === '' ? undefined : username, password === '' ? undefined : password]
}

function nodeOf(text: string, usual: number): Node {
  const [, host = '', port = String(usual)] =
    /^(\[[^\]]+\]|[^:[\]]*)(?::(\d{1,5}))?$/.exec(text) ?? []
  // `user:secret` without its `@` looks like a host with a port.
  if (host === '' && text !== '') refuse('a host and a port', text.replace(/:.*/, ':…'))
  if (Number(port) > 65_535) refuse('a port up to 65535', 'a greater number')
  return { host: host.replace(/^\[|\]$/g, '') || 'localhost', port: Number(port) }
}

function dbOf(text = ''): number {
  if (!/^\d{0,6}$/.test(text)) refuse('the number of a database', text)
  return Number(text)
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    // A `%` that is one: what a person has typed, rather than a program.
    return text
  }
}

/** Never the whole: a password may be in it. */
function refuse(expected: string, got: string): never {
  throw usage(`--redis: expected ${expected}, got ${JSON.stringify(got)}; as in ${examples}`)
}
