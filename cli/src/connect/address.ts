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
  if (text.startsWith('/') || text.startsWith('unix:')) {
    const path = text.replace(/^unix:(\/\/)?/, '')
    const none = { username: undefined, password: undefined, db: 0, tls: false }
    return { type: 'socket', path, shown: path, ...none }
  }
  const url = text.includes('://') ? text : `redis://${text}`
  const [, scheme = '', authority = '', path = '', query = ''] =
    /^([a-z+]+:)\/\/([^/?]*)([^?]*)\??(.*)$/i.exec(url) ?? []
  const kind = schemes[scheme.toLowerCase() as keyof typeof schemes] ?? refuse('a URL', scheme)
  const at = authority.lastIndexOf('@')
  const [username, password] = at < 0 ? [] : credentials(authority.slice(0, at))
  const hosts = authority.slice(at + 1)
  const usual = kind.type === 'sentinel' ? 26_379 : 6_379
  const nodes = hosts.split(',').map((host) => nodeOf(host, usual))
  const parts = path.split('/').slice(1).map(decoded)
  const more = new URLSearchParams(query)
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

function credentials(text: string): (string | undefined)[] {
  const colon = text.indexOf(':')
  const username = decoded(colon < 0 ? text : text.slice(0, colon))
  const password = colon < 0 ? undefined : decoded(text.slice(colon + 1))
  return [username === '' ? undefined : username, password === '' ? undefined : password]
}

function nodeOf(text: string, usual: number): Node {
  const [, host = '', port = String(usual)] =
    /^(\[[^\]]+\]|[^:[\]]*)(?::(\d{1,5}))?$/.exec(text) ?? []
  if (host === '' && text !== '') refuse('a host and a port', text)
  if (Number(port) > 65_535) refuse('a port up to 65535', port)
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
