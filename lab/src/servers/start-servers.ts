// Brings up what the run needs: the database and Redis that the environment names, else private
// ones. Without any Redis there is none: the lab then shows what one process can do.

import { canStartServers, type RedisServer, startRedisServer } from '@breakwater/rig'
import type { DatabaseAddress, RedisAddress } from './addresses.ts'
import { startKeeper } from './start-keeper.ts'

export interface Servers {
  readonly database: DatabaseAddress
  readonly redis: RedisAddress | undefined
  /** The private one, to be killed and frozen. */
  readonly redisServer: RedisServer | undefined
  stop(): Promise<void>
}

export async function startServers(env: NodeJS.ProcessEnv, signal: AbortSignal): Promise<Servers> {
  const started = await Promise.allSettled([startDatabase(env, signal), startRedis(env)])
  const [database, redis] = started
  const stop = async (): Promise<void> => {
    await Promise.all(
      started.map(async (one) => (one.status === 'fulfilled' ? one.value.stop() : undefined)),
    )
  }
  if (database.status === 'fulfilled' && redis.status === 'fulfilled') {
    const { address, server } = redis.value
    return { database: database.value.address, redis: address, redisServer: server, stop }
  }
  await stop()
  throw database.status === 'rejected' ? database.reason : (redis as PromiseRejectedResult).reason
}

async function startDatabase(
  env: NodeJS.ProcessEnv,
  signal: AbortSignal,
): Promise<{ address: DatabaseAddress; stop(): Promise<void> }> {
  const url = env['DATABASE_URL']
  if (url === undefined || url === '') return startKeeper(signal)
  return { address: { kind: 'given', config: { connectionString: url } }, stop: async () => {} }
}

async function startRedis(
  env: NodeJS.ProcessEnv,
): Promise<{ address: RedisAddress | undefined; server?: RedisServer; stop(): Promise<void> }> {
  const url = env['REDIS_URL']
  if (url !== undefined && url !== '') {
    return { address: { kind: 'given', url }, stop: async () => {} }
  }
  if (!canStartServers()) return { address: undefined, stop: async () => {} }
  const server = await startRedisServer({ listen: 'socket' })
  return { address: { kind: 'private', url: server.url }, server, stop: () => server.stop() }
}
