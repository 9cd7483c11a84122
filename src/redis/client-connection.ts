/**
 * A connection by whatever client the user passes, told apart by its shape: for what is the same
 * with all of them and has one subpath. Answers must be of masters: a replica that lags does not
 * know yet what was just added.
 */
import { BreakwaterError, describe } from '../core/errors.ts'
import type { RedisConnection } from './commands.ts'
import { busOfCluster, busOfOne } from './ioredis-bus-sources.ts'
import { checkShape, readsFromReplica } from './ioredis-check.ts'
import { isCluster, prefixText } from './ioredis-client.ts'
import { ioredisClusterCommands } from './ioredis-cluster-commands.ts'
import { ioredisCommands } from './ioredis-commands.ts'
import { ownBus as ioredisBus } from './ioredis-own-bus.ts'
import { checkClient } from './node-redis-client.ts'
import { nodeRedisCommands } from './node-redis-commands.ts'
import { ownBus as nodeRedisBus } from './node-redis-own-bus.ts'
import { hidesHashTag } from './slots.ts'

/** `option`: what the user calls it. Throws `INVALID_OPTION` when it is no such client. */
export function connectionOf(option: string, value: unknown): RedisConnection {
  if (typeof value !== 'object' || value === null) {
    throw refuse(`${option}: expected an ioredis, iovalkey or node-redis client`, value)
  }
  if ('sendCommand' in value && 'withTypeMapping' in value) return byNodeRedis(option, value)
  return byIoredis(option, value)
}

function byIoredis(option: string, value: object): RedisConnection {
  const client = checkShape(option, value)
  if (isCluster(client)) {
    refuseHidden(option, prefixText(client.options.keyPrefix))
    return {
      commands: ioredisClusterCommands(client),
      subscribe: ioredisBus(() => busOfCluster(client)),
    }
  }
  if (readsFromReplica(client)) throw fromReplica(option)
  if (client.mode === 'subscriber') throw subscribed(option)
  return { commands: ioredisCommands(client), subscribe: ioredisBus(() => busOfOne(client)) }
}

function byNodeRedis(option: string, value: object): RedisConnection {
  const checked = checkClient(option, value)
  if (checked.kind === 'single') {
    const { isPubSubActive, options } = checked.client
    if (isPubSubActive && options?.RESP !== 3) throw subscribed(option)
    if (options?.readonly === true) throw fromReplica(option)
  }
  const commands = nodeRedisCommands(checked, false)
  if (checked.kind === 'cluster') refuseHidden(option, commands.keyPrefix)
  return { commands, subscribe: nodeRedisBus(checked) }
}

/** With such a prefix keys that belong together lie in different slots. */
function refuseHidden(option: string, keyPrefix: string): void {
  if (!hidesHashTag(keyPrefix)) return
  throw refuse(`${option}: expected a key prefix that does not begin its braces with {}`, keyPrefix)
}

function subscribed(option: string): BreakwaterError {
  return new BreakwaterError(
    'INVALID_OPTION',
    `${option}: expected a client for commands, got one in subscriber mode`,
  )
}

function fromReplica(option: string): BreakwaterError {
  return new BreakwaterError(
    'INVALID_OPTION',
    `${option}: expected a client that reads from the master, got one that reads from a replica, ` +
      'which would refuse what was just added',
  )
}

function refuse(expected: string, value: unknown): BreakwaterError {
  return new BreakwaterError('INVALID_OPTION', `${expected}, got ${describe(value)}`)
}
