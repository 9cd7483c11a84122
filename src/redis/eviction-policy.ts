/**
 * Whether leases may be evicted (T087): with a limit on memory, by every policy but `noeviction`, since
 * they expire. That costs a second load and nothing else; whoever runs the server may want to know.
 */
import type { RedisServer } from './commands.ts'

/** The policy's name; `undefined`: nothing is evicted, or the server will not say. */
export async function evictionPolicyOf(server: RedisServer): Promise<string | undefined> {
  try {
    const memory = await server.info('memory')
    const policy = /^maxmemory_policy:(\S+)/m.exec(memory)?.[1]
    const isLimited = !/^maxmemory:0\s*$/m.test(memory)
    return isLimited && policy !== 'noeviction' ? policy : undefined
  } catch {
    return undefined
  }
}
