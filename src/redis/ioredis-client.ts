/**
 * What is used of a client of ioredis (5, 6) or iovalkey, single or cluster, written down here so
 * that the package needs no types of theirs.
 */
export interface IoredisPipeline {
  getBuffer(key: string): unknown
  evalshaBuffer(...args: readonly (string | number | Uint8Array)[]): unknown
  callBuffer(...words: readonly (string | number | Uint8Array)[]): unknown
  exec(): Promise<readonly (readonly [Error | null, unknown])[] | null>
}

type Listener = (...args: never[]) => void
type KeyPrefix = string | Uint8Array

/** What single clients and clusters have in common. */
export interface IoredisSender {
  readonly status: string
  connect(): Promise<void>
  disconnect(reconnect?: boolean): void
  on(event: string, listener: Listener): unknown
  removeListener(event: string, listener: Listener): unknown
  getBuffer(key: string): Promise<Buffer | null>
  evalshaBuffer(...args: readonly (string | number | Uint8Array)[]): Promise<unknown>
  evalBuffer(...args: readonly (string | number | Uint8Array)[]): Promise<unknown>
  pipeline(): IoredisPipeline
}

export interface IoredisClient extends IoredisSender {
  readonly mode?: string
  readonly isCluster?: boolean
  readonly options: {
    readonly host?: string
    readonly port?: number
    readonly db?: number
    readonly keyPrefix?: KeyPrefix
    readonly readOnly?: boolean
    readonly role?: string
    readonly monitor?: boolean
    readonly retryStrategy?: unknown
  }
  /** Of the present connection; `select` is the database in use. */
  readonly condition?: { readonly select?: number } | null
  readonly stream?: {
    readonly bytesRead?: number
    readonly destroyed?: boolean
    unref?(): unknown
    destroy(): unknown
  }
  duplicate(override: object): IoredisClient
  mgetBuffer(...keys: readonly string[]): Promise<readonly (Buffer | null)[]>
  publish(channel: string, message: Uint8Array): Promise<unknown>
  time(): Promise<readonly unknown[]>
  info(section: string): Promise<string>
  subscribe(...channels: readonly string[]): Promise<unknown>
  unsubscribe(...channels: readonly string[]): Promise<unknown>
}

export interface IoredisCluster extends IoredisSender {
  readonly isCluster: true
  readonly options: {
    readonly keyPrefix?: KeyPrefix
    readonly scaleReads?: unknown
    readonly maxRedirections?: number
    readonly enableAutoPipelining?: boolean
  }
  /** Per slot the names (`host:port`) of its servers, the master first; empty until it has connected. */
  readonly slots: readonly (readonly string[] | undefined)[]
  /** One client per server, as the cluster knows them now. */
  nodes(role: 'all' | 'master'): readonly IoredisClient[]
  /** Asks any server which are whose. Calls while it does are one. */
  refreshSlotsCache?(): void
  sendCommand(...args: readonly unknown[]): Promise<unknown>
}

export function isCluster(client: IoredisClient | IoredisCluster): client is IoredisCluster {
  return client.isCluster === true
}

/** `host:port`, as a cluster names its servers. */
export function nameOf({ options }: IoredisClient): string {
  return `${options.host ?? ''}:${options.port ?? ''}`
}

/** A prefix of bytes as text, a character for each. */
export function prefixText(prefix: KeyPrefix | null | undefined): string {
  if (prefix === undefined || prefix === null) return ''
  return typeof prefix === 'string' ? prefix : Buffer.from(prefix).toString('latin1')
}
