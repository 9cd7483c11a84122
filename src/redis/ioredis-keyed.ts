/**
 * Commands by key that are none of the usual few. Those that the client has a method for go through
 * it, which adds the key prefix and finds the slot; of the others (`BF.…`, which it does not know)
 * it would do neither.
 */
import type { Argument, KeyedCommand } from './commands.ts'
import type { IoredisClient, IoredisSender } from './ioredis-client.ts'
import { argumentOf, type Word } from './ioredis-words.ts'

type Method = (this: unknown, ...words: readonly Word[]) => Promise<unknown>

/** The client's own method; `undefined`: it has none. `direct`: what it runs on. */
export function byMethod(
  client: IoredisSender,
  direct: unknown,
): (command: KeyedCommand, key: string, args: readonly Argument[]) => Promise<unknown> | undefined {
  return (command, key, args) => {
    const method: unknown = Reflect.get(client, `${command.toLowerCase()}Buffer`)
    if (typeof method !== 'function') return undefined
    return (method as Method).call(direct, key, ...args.map(argumentOf))
  }
}

/**
 * In a pipeline of its own: `callBuffer` by itself loses the command's name under
 * `enableAutoPipelining`.
 */
export async function byName(
  client: IoredisClient,
  {
    command,
    key,
    args,
  }: { command: KeyedCommand; key: string | Buffer; args: readonly Argument[] },
): Promise<unknown> {
  const pipeline = client.pipeline()
  pipeline.callBuffer(command, key, ...args.map(argumentOf))
  const [error, reply] = (await pipeline.exec())?.[0] ?? [new Error('the connection is closed')]
  if (error !== null) throw error
  return reply
}

export function withPrefix(
  prefix: string | Uint8Array | null | undefined,
  key: string,
): string | Buffer {
  if (prefix === undefined || prefix === null || typeof prefix === 'string') {
    return (prefix ?? '') + key
  }
  return Buffer.concat([prefix, Buffer.from(key)])
}
