/** One server that takes writes, over what sends it one command. */
import type { RedisServer } from './commands.ts'
import type { Word } from './node-redis-client.ts'
import { asText, word } from './node-redis-keyed.ts'

interface Wire {
  send(command: readonly Word[], options: object): Promise<unknown>
  reconnect(): void
}

export function nodeRedisServer(name: string, { send, reconnect }: Wire): RedisServer {
  return {
    name,
    publish: (channel, message) => send(['PUBLISH', channel, word(message)], asText),
    time: () => send(['TIME'], asText) as Promise<readonly unknown[]>,
    info: (section) => send(['INFO', section], asText) as Promise<string>,
    reconnect,
  }
}
