// Brings up what the run needs: the database and Redis that the environment names, else private ones
// behind a keeper process. DATABASE_URL and REDIS_URL are used as guests: own schema, own keys.

import { type ChildProcess, fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import type { DatabaseAddress, RedisAddress } from './addresses.ts'
import type { KeeperReply, KeeperRequest } from './keeper-messages.ts'
import { postgresPort, postgresUser } from './postgres.ts'

export interface Servers {
  readonly database: DatabaseAddress
  readonly redis: RedisAddress | undefined
  stop(): Promise<void>
}

export async function startServers(env: NodeJS.ProcessEnv): Promise<Servers> {
  const databaseUrl = env['DATABASE_URL']
  const redisUrl = env['REDIS_URL']
  const redisServer =
    redisUrl === undefined ? redisBinary(env['BREAKWATER_REDIS_SERVER']) : undefined
  const needsKeeper = databaseUrl === undefined || redisServer !== undefined
  const keeper = needsKeeper
    ? await startKeeper({ postgres: databaseUrl === undefined, redisServer })
    : undefined

  const database: DatabaseAddress =
    databaseUrl !== undefined
      ? { kind: 'given', config: { connectionString: databaseUrl } }
      : {
          kind: 'private',
          config: {
            host: keeper?.ready.postgresSocketDir,
            port: postgresPort,
            user: postgresUser,
            database: 'postgres',
          },
        }
  const redis: RedisAddress | undefined =
    redisUrl !== undefined
      ? { kind: 'given', url: redisUrl }
      : redisServer !== undefined && keeper !== undefined
        ? { kind: 'private', socket: keeper.ready.redisSocket }
        : undefined
  return { database, redis, stop: async () => keeper?.stop() }
}

/** `scripts/start.mjs` passes the path, or `none`; by hand, whatever is on the PATH. */
function redisBinary(named: string | undefined): string | undefined {
  if (named === 'none') return undefined
  return named === undefined || named === '' ? 'redis-server' : named
}

interface Keeper {
  readonly ready: Extract<KeeperReply, { kind: 'ready' }>
  stop(): Promise<void>
}

async function startKeeper(request: KeeperRequest): Promise<Keeper> {
  const child = fork(fileURLToPath(new URL('./keeper.js', import.meta.url)), {
    detached: true,
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
  })
  const gone = new Promise<void>((done) => child.once('exit', () => done()))
  child.send(request)
  const answer = await firstReply(child)
  if (answer.kind === 'failed') {
    if (child.connected) child.disconnect()
    await gone
    throw new Error(`could not start the servers: ${answer.reason}`)
  }
  return {
    ready: answer,
    stop: async () => {
      if (child.connected) child.disconnect()
      await gone
    },
  }
}

function firstReply(child: ChildProcess): Promise<KeeperReply> {
  return new Promise((resolve) => {
    child.once('message', (message) => resolve(message as KeeperReply))
    child.once('exit', (code) => {
      resolve({ kind: 'failed', reason: `the keeper ended with ${String(code)}` })
    })
  })
}
