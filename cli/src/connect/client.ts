/**
 * A client of ioredis, connected within a deadline or not at all. A plain URL may lead to a cluster:
 * whoever answers says so, and is then spoken to as one.
 */
import { readFileSync } from 'node:fs'
import { Cluster, Redis, type RedisOptions } from 'ioredis'
import { Failure, usage } from '../ending.ts'
import type { Settings } from '../settings.ts'
import { parseAddress, type Address, type Node } from './address.ts'

export type Connection = {
  readonly address: Address
  /** What a further connection to the same takes: of one server, with its own host and port. */
  readonly options: RedisOptions
  end(): void
} & (
  | { readonly kind: 'one' | 'sentinel'; readonly client: Redis }
  | { readonly kind: 'cluster'; readonly client: Cluster }
)

export interface ConnectHow {
  /** Connects anew when the connection is lost, as often as need be. */
  readonly persists: boolean
  /** Is told of a server that cannot be reached yet, instead of the caller by an error: it may come. */
  unreachable?(failure: Failure): void
}

type Common = Omit<RedisOptions, 'replyMapping' | 'host' | 'port' | 'path' | 'sentinels'>

type Of = Pick<Settings, 'redis' | 'keyPrefix' | 'tls' | 'timeoutMs'>

export async function connect(settings: Of, how: ConnectHow): Promise<Connection> {
  const { persists } = how
  const address = parseAddress(settings.redis)
  const options = optionsOf(address, settings, persists)
  switch (address.type) {
    case 'cluster':
      return cluster(address, address.nodes, { settings, options, how })
    case 'sentinel': {
      const client = new Redis({ ...options, ...sentinelOptions(address, options, persists) })
      await ready(client, address, { settings, how })
      return { kind: 'sentinel', client, address, options, end: () => client.disconnect() }
    }
    case 'single':
    case 'socket': {
      const to = address.type === 'socket' ? { path: address.path } : address.node
      const client = new Redis({ ...options, ...to })
      const isThere = await ready(client, address, { settings, how })
      if (!isThere || !(await isCluster(client))) {
        const all = { ...options, ...to }
        return { kind: 'one', client, address, options: all, end: () => client.disconnect() }
      }
      client.disconnect()
      if (address.db !== 0) throw usage('--redis: expected no database, since it is a cluster')
      if (address.type === 'socket') throw usage('--redis: expected a host, since it is a cluster')
      return cluster(address, [address.node], { settings, options, how })
    }
  }
}

async function cluster(
  address: Address,
  nodes: readonly Node[],
  { settings, options, how }: { settings: Of; options: Common; how: ConnectHow },
): Promise<Connection> {
  const { keyPrefix, retryStrategy: _, ...redisOptions } = options
  const client = new Cluster(
    nodes.map((node) => ({ ...node })),
    {
      lazyConnect: true,
      enableReadyCheck: false,
      clusterRetryStrategy: retrying(how.persists),
      slotsRefreshTimeout: settings.timeoutMs,
      // A name that a certificate is of must not become an address.
      ...(address.tls
        ? { dnsLookup: (host: string, done: (e: null, h: string) => void) => done(null, host) }
        : {}),
      ...(keyPrefix === undefined ? {} : { keyPrefix }),
      redisOptions,
    },
  )
  await ready(client, address, { settings, how })
  return { kind: 'cluster', client, address, options: redisOptions, end: () => client.disconnect() }
}

/** Whether it answers now. */
async function ready(
  client: Redis | Cluster,
  address: Address,
  { settings: { timeoutMs }, how }: { settings: Of; how: ConnectHow },
): Promise<boolean> {
  let last: unknown
  let timer: NodeJS.Timeout | undefined
  client.on('error', (error: unknown) => (last = error))
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`no answer within ${timeoutMs} ms`)), timeoutMs)
  })
  try {
    await Promise.race([client.connect().then(() => client.ping()), late])
    return true
  } catch (error) {
    const reason = isVague(error) ? (last ?? error) : error
    const failure = unreachable(address, reason)
    if (how.unreachable !== undefined && mayCome(reason)) {
      how.unreachable(failure)
      return false
    }
    client.disconnect()
    throw failure
  } finally {
    clearTimeout(timer)
  }
}

const network =
  /^(ECONNREFUSED|ECONNRESET|EPIPE|ETIMEDOUT|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|ENOENT)$/

/** It does not answer; whoever answers and lets nobody in will not do so later either. */
function mayCome(error: unknown): boolean {
  const { code, message } = error as NodeJS.ErrnoException
  return network.test(code ?? '') || /no answer within|closed|LOADING/.test(message ?? '')
}

function isVague(error: unknown): boolean {
  return /closed|max retries|Failed to refresh|ended/i.test(String(error))
}

export function unreachable({ shown }: Address, error: unknown): Failure {
  return new Failure('unreachable', `${shown}: ${reasonOf(error)}`, error)
}

function reasonOf(error: unknown): string {
  const nested = (error as { lastNodeError?: unknown }).lastNodeError
  if (nested !== undefined) return reasonOf(nested)
  const { code, message } = error as NodeJS.ErrnoException
  const text = message === '' || message === undefined ? String(code ?? error) : message
  if (/NOAUTH/.test(text))
    return 'it asks for a password; put it into the URL: redis://:password@host'
  if (/WRONGPASS|invalid password/i.test(text))
    return 'it refuses this user or password (WRONGPASS)'
  if (/self[- ]signed|unable to (verify|get)|altname|CERT_/i.test(`${text} ${code}`)) {
    return `its certificate is not trusted (${text}); --tls-ca FILE names its authority`
  }
  if (/NOPERM.*ping/i.test(text)) return 'this user may not PING: +ping is missing'
  return text
}

async function isCluster(client: Redis): Promise<boolean> {
  const [info, state] = await Promise.allSettled([client.info('cluster'), client.cluster('INFO')])
  if (info.status === 'fulfilled') return /^cluster_enabled:1/m.test(info.value)
  return state.status === 'fulfilled'
}

function optionsOf(address: Address, settings: Of, persists: boolean): Common {
  const { username, password, db, tls } = address
  return {
    lazyConnect: true,
    // It asks for INFO, which not every user may.
    enableReadyCheck: false,
    connectTimeout: settings.timeoutMs,
    commandTimeout: settings.timeoutMs,
    maxRetriesPerRequest: 0,
    // It waits for so long, the process with it, for a connection that was never there.
    disconnectTimeout: 50,
    retryStrategy: retrying(persists),
    connectionName: 'breakwater-cli',
    db,
    ...(username === undefined ? {} : { username }),
    ...(password === undefined ? {} : { password }),
    ...(settings.keyPrefix === '' ? {} : { keyPrefix: settings.keyPrefix }),
    ...(tls ? { tls: tlsOptions(settings) } : {}),
  }
}

function sentinelOptions(
  address: Extract<Address, { type: 'sentinel' }>,
  { tls }: Common,
  persists: boolean,
) {
  const { nodes, name, sentinelUsername, sentinelPassword } = address
  return {
    sentinels: nodes.map((node) => ({ ...node })),
    name,
    sentinelRetryStrategy: retrying(persists),
    ...(sentinelUsername === undefined ? {} : { sentinelUsername }),
    ...(sentinelPassword === undefined ? {} : { sentinelPassword }),
    ...(tls === undefined ? {} : { sentinelTLS: tls, enableTLSForSentinelMode: true }),
  }
}

function tlsOptions({ tls: { ca, cert, key, insecure } }: Of): NonNullable<RedisOptions['tls']> {
  return {
    ...(ca === undefined ? {} : { ca: contents('--tls-ca', ca) }),
    ...(cert === undefined ? {} : { cert: contents('--tls-cert', cert) }),
    ...(key === undefined ? {} : { key: contents('--tls-key', key) }),
    ...(insecure ? { rejectUnauthorized: false } : {}),
  }
}

function contents(option: string, file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    throw usage(`${option}: expected a file that can be read, got ${(error as Error).message}`)
  }
}

function retrying(persists: boolean): (times: number) => number | null {
  return (times) => (persists ? Math.min(100 * times, 2_000) : null)
}
