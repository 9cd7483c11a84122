// Which Redis there is: the one at REDIS_URL, which is not ours to break, or a private one.
// Work that kills, freezes or restarts a server calls startRedisServer and checks canStartServers.

import { startRedisServer } from './redis-server.ts'
import { findServerProgram } from './server-process.ts'

export interface ReachableRedis {
  /** For `new Redis(url)`. */
  readonly url: string
  /** Ends a private server; leaves the one at REDIS_URL alone. */
  stop(): Promise<void>
}

/** False where there is only REDIS_URL: nothing can be killed or frozen then. */
export function canStartServers(): boolean {
  return findServerProgram() !== undefined
}

/** The server at REDIS_URL, else a private one that ends with this process. */
export async function reachRedis(): Promise<ReachableRedis> {
  const url = process.env['REDIS_URL']
  if (url !== undefined && url !== '') return { url, stop: async () => {} }
  return startRedisServer()
}
