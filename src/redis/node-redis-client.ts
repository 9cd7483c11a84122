/**
 * What is used of a client of node-redis (5, 6), written down here so that the package needs no
 * types of theirs, and the check that what the user passed is one. Anything that would fail later,
 * in traffic, is refused here with a sentence.
 */
import { BreakwaterError, describe } from '../core/errors.ts'

export type Word = string | Buffer
type Listener = (...args: never[]) => void
export type Hear = (message: Buffer, channel: Buffer) => void

export interface Emitter {
  on(event: string, listener: Listener): unknown
  removeListener(event: string, listener: Listener): unknown
  listenerCount(event: string): number
  eventNames(): readonly unknown[]
}

/** Of `createClient`, and each node's of a cluster or Sentinel client. */
export interface SingleClient extends Emitter {
  readonly isOpen: boolean
  readonly isReady: boolean
  readonly isPubSubActive: boolean
  /** How many connections it has had so far; since 5.9. */
  readonly socketEpoch?: number
  readonly options?: {
    readonly RESP?: number
    readonly database?: number
    readonly readonly?: boolean
    readonly keyPrefix?: Word
    readonly socket?: { readonly reconnectStrategy?: unknown }
  }
  connect(): Promise<unknown>
  destroy(): void
  unref(): void
  duplicate(overrides: object): SingleClient
  sendCommand(command: readonly Word[], options: object): Promise<unknown>
  subscribe(channels: readonly string[], hear: Hear, asBytes: true): Promise<unknown>
  unsubscribe(channels: readonly string[], hear: Hear, asBytes: true): Promise<unknown>
}

export interface ClusterNode {
  readonly address: string
  readonly client?: SingleClient | undefined
}

export interface ClusterClient extends Emitter {
  readonly isOpen: boolean
  /** Version 5 has none. */
  readonly isReady?: boolean
  readonly masters: readonly ClusterNode[]
  /** None while it is asking anew who has which. */
  readonly slots: readonly ({ readonly master: ClusterNode } | undefined)[]
  readonly _keyPrefix?: Word
  connect(): Promise<unknown>
  nodeClient(node: ClusterNode): Promise<SingleClient>
  sendCommand(
    key: Word | undefined,
    mayBeReplica: boolean,
    command: readonly Word[],
    options: object,
  ): Promise<unknown>
}

export interface SentinelClient extends Emitter {
  readonly isOpen: boolean
  readonly isReady: boolean
  readonly _keyPrefix?: Word
  connect(): Promise<unknown>
  /** Only while it is connected to one. */
  getMasterNode(): { readonly host: string; readonly port: number } | undefined
  sendCommand(mayBeReplica: boolean, command: readonly Word[], options: object): Promise<unknown>
  /** The only way to a node's own client. */
  _execute<T>(mayBeReplica: boolean, run: (node: SingleClient) => Promise<T>): Promise<T>
}

export type NodeRedisClient =
  | { readonly kind: 'single'; readonly client: SingleClient }
  | { readonly kind: 'cluster'; readonly client: ClusterClient }
  | { readonly kind: 'sentinel'; readonly client: SentinelClient }

/** The client that the commands go through. */
export function checkCommandClient(value: unknown, replicaReads: boolean): NodeRedisClient {
  const checked = checkClient('redisStore.client', value)
  if (checked.kind !== 'single') return checked
  const { isPubSubActive, options } = checked.client
  if (isPubSubActive && options?.RESP !== 3) {
    throw refuse(
      'redisStore.client: expected a client for commands, got one that is subscribed; ' +
        'pass that one as `bus`, or make it with `RESP: 3`',
    )
  }
  if (!replicaReads && options?.readonly === true) {
    throw refuse(
      'redisStore.client: expected a client of the master, got one that reads from a replica; ' +
        'set `replicaReads: true` to accept answers that may be old',
    )
  }
  return checked
}

/** A client of the user's for subscriptions: it must tell when its subscription is lost. */
export function checkBusClient(value: unknown): SingleClient {
  const checked = checkClient('redisStore.bus', value)
  if (checked.kind === 'single') return checked.client
  throw refuse(
    `redisStore.bus: expected a client of one server (createClient), got a ${checked.kind} client, ` +
      'which does not tell when its subscription is lost; leave it out for a connection of our own',
  )
}

const methods = ['connect', 'on', 'sendCommand', 'withTypeMapping'] as const

export function checkClient(option: string, value: unknown): NodeRedisClient {
  if (typeof value !== 'object' || value === null) {
    throw refuse(`${option}: expected a node-redis client, got ${describe(value)}`)
  }
  const client = value as Record<string, unknown>
  if (typeof client['execute'] === 'function' && 'idleClients' in client) {
    throw refuse(
      `${option}: expected a client of createClient, createCluster or createSentinel, got a pool; ` +
        'one client is enough, since its commands do not wait for each other',
    )
  }
  if (methods.some((name) => typeof client[name] !== 'function') || !('isOpen' in client)) {
    throw refuse(
      `${option}: expected a client of node-redis 5 or 6 (createClient(…)), ` +
        `got ${describe(value)} without its methods`,
    )
  }
  if (typeof client['nodeClient'] === 'function') {
    return { kind: 'cluster', client: value as ClusterClient }
  }
  if (typeof client['getMasterNode'] === 'function') {
    return { kind: 'sentinel', client: value as SentinelClient }
  }
  return { kind: 'single', client: value as SingleClient }
}

export function refuse(message: string): BreakwaterError {
  return new BreakwaterError('INVALID_OPTION', message)
}
