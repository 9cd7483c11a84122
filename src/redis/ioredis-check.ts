/**
 * Is what the user passed a client that we can work with? Anything that would fail later, in
 * traffic, is refused here with a sentence.
 */
import { BreakwaterError, describe } from '../core/errors.ts'
import { isCluster, prefixText, type IoredisClient, type IoredisCluster } from './ioredis-client.ts'
import { hidesHashTag } from './slots.ts'

type Any = IoredisClient | IoredisCluster

const everywhere = ['getBuffer', 'evalshaBuffer', 'evalBuffer', 'pipeline', 'on'] as const
const ofSingle = ['duplicate', 'subscribe', 'mgetBuffer'] as const
const ofCluster = ['nodes', 'sendCommand'] as const

/** The client that the commands go through. */
export function checkCommandClient(value: unknown, replicaReads: boolean): Any {
  const client = checkShape('redisStore.client', value)
  if (!isCluster(client) && client.mode === 'subscriber') {
    throw refuse(
      'redisStore.client: expected a client for commands, got one in subscriber mode; pass that one as `bus`',
    )
  }
  if (isCluster(client)) checkClusterOptions(client)
  if (!replicaReads && readsFromReplica(client)) {
    const which = isCluster(client)
      ? 'a client that reads from the masters, got a Cluster whose `scaleReads` is not "master"'
      : 'a client of the master, got one that reads from a replica'
    throw refuse(
      `redisStore.client: expected ${which}; set \`replicaReads: true\` to accept answers that may be old`,
    )
  }
  return client
}

/** The user's own client for subscriptions. */
export function checkBusClient(value: unknown): IoredisClient {
  const client = checkShape('redisStore.bus', value)
  if (isCluster(client)) {
    throw refuse(
      'redisStore.bus: expected a client of one server, got a Cluster, which changes its subscriber ' +
        'connection without telling; leave `bus` out, or pass a client of one of its servers',
    )
  }
  return client
}

export function readsFromReplica(client: Any): boolean {
  if (isCluster(client)) return (client.options.scaleReads ?? 'master') !== 'master'
  return client.options.readOnly === true || client.options.role === 'slave'
}

export function refuse(message: string): BreakwaterError {
  return new BreakwaterError('INVALID_OPTION', message)
}

export function checkShape(option: string, value: unknown): Any {
  if (typeof value !== 'object' || value === null) {
    throw refuse(`${option}: expected an ioredis or iovalkey client, got ${describe(value)}`)
  }
  const client = value as Any
  const methods = [...everywhere, ...(isCluster(client) ? ofCluster : ofSingle)]
  const complete = methods.every((name) => typeof Reflect.get(client, name) === 'function')
  if (!complete || client.options === undefined) {
    throw refuse(
      `${option}: expected an ioredis or iovalkey client (new Redis(…)), got ${describe(value)} without its methods`,
    )
  }
  if (!isCluster(client) && client.options.monitor === true) {
    throw refuse(`${option}: expected a client for commands, got one that monitors`)
  }
  return client
}

function checkClusterOptions({ options }: IoredisCluster): void {
  const { maxRedirections = 1 } = options
  if (!(maxRedirections >= 1)) {
    throw refuse(
      `redisStore.client: expected a Cluster with \`maxRedirections\` of at least 1, got ${describe(maxRedirections)}, with which no slot may ever move`,
    )
  }
  const prefix = prefixText(options.keyPrefix)
  if (hidesHashTag(prefix)) {
    throw refuse(
      `redisStore.client: expected a Cluster whose \`keyPrefix\` does not begin its braces with {}, got ${describe(prefix)}, with which the two keys of an entry lie in different slots`,
    )
  }
}
