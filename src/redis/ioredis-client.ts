/**
 * What is used of an ioredis client (5, 6, iovalkey), written down here so that the package needs
 * no types of theirs, and the check that what the user passed is one. Anything that would fail
 * later, in traffic, is refused here with a sentence.
 */
import { BreakwaterError, describe } from '../core/errors.ts'

export interface IoredisPipeline {
  evalshaBuffer(...args: readonly (string | number | Uint8Array)[]): unknown
  exec(): Promise<readonly (readonly [Error | null, unknown])[] | null>
}

type Listener = (...args: never[]) => void

export interface IoredisClient {
  readonly status: string
  readonly mode?: string
  readonly isCluster?: boolean
  readonly options: {
    readonly db?: number
    readonly keyPrefix?: string | Uint8Array
    readonly readOnly?: boolean
    readonly role?: string
    readonly monitor?: boolean
  }
  /** Of the present connection; `select` is the database in use. */
  readonly condition?: { readonly select?: number } | null
  readonly stream?: {
    readonly bytesRead?: number
    unref?(): unknown
    destroy(): unknown
  }
  connect(): Promise<void>
  disconnect(reconnect?: boolean): void
  duplicate(override: object): IoredisClient
  on(event: string, listener: Listener): unknown
  removeListener(event: string, listener: Listener): unknown
  getBuffer(key: string): Promise<Buffer | null>
  mgetBuffer(...keys: readonly string[]): Promise<readonly (Buffer | null)[]>
  evalshaBuffer(...args: readonly (string | number | Uint8Array)[]): Promise<unknown>
  evalBuffer(...args: readonly (string | number | Uint8Array)[]): Promise<unknown>
  publish(channel: string, message: Uint8Array): Promise<unknown>
  time(): Promise<readonly unknown[]>
  info(section: string): Promise<string>
  subscribe(...channels: readonly string[]): Promise<unknown>
  unsubscribe(...channels: readonly string[]): Promise<unknown>
  pipeline(): IoredisPipeline
}

const methods = ['getBuffer', 'evalshaBuffer', 'evalBuffer', 'pipeline', 'duplicate', 'on'] as const

export function checkClient(option: string, value: unknown): IoredisClient {
  if (typeof value !== 'object' || value === null) {
    throw refuse(`${option}: expected an ioredis client, got ${describe(value)}`)
  }
  const client = value as Partial<IoredisClient>
  if (client.isCluster === true) {
    throw refuse(
      `${option}: expected a single or Sentinel client, got a Cluster, which is not supported yet`,
    )
  }
  if (methods.some((name) => typeof client[name] !== 'function') || client.options === undefined) {
    throw refuse(
      `${option}: expected an ioredis client (new Redis(…)), got ${describe(value)} without its methods`,
    )
  }
  if (client.options.monitor === true) {
    throw refuse(`${option}: expected a client for commands, got one that monitors`)
  }
  return client as IoredisClient
}

/** The client that the commands go through. */
export function checkCommandClient(value: unknown, replicaReads: boolean): IoredisClient {
  const client = checkClient('redisStore.client', value)
  if (client.mode === 'subscriber') {
    throw refuse(
      'redisStore.client: expected a client for commands, got one in subscriber mode; pass that one as `bus`',
    )
  }
  if (!replicaReads && readsFromReplica(client)) {
    throw refuse(
      'redisStore.client: expected a client of the master, got one that reads from a replica; ' +
        'set `replicaReads: true` to accept answers that may be old',
    )
  }
  return client
}

export function readsFromReplica({ options }: IoredisClient): boolean {
  return options.readOnly === true || options.role === 'slave'
}

export function refuse(message: string): BreakwaterError {
  return new BreakwaterError('INVALID_OPTION', message)
}
