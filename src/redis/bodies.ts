/** Bodies that lie apart from their frames: each under a key of its own, in its frame's slot. */
import type { Bodies } from '../ports.ts'
import type { Bytes, RedisCommands } from './commands.ts'
import type { Layout } from './layout.ts'
import { runScript } from './run-script.ts'
import { scripts } from './scripts.generated.ts'

/**
 * A body without a frame ends after that: its process has died between the two. With one it ends so
 * much later, so that whoever has read the one still finds the other: the scripts add the same.
 */
const longerMs = '60000'

export function redisBodies(commands: RedisCommands, layout: Layout): Bodies {
  return {
    put: async (key, { id, at, bytes }) => {
      const args = [String(at), bytes, longerMs]
      await runScript(commands, scripts.body, { keys: [layout.bodyKey(key, id)], args })
    },
    get: async (key, { id, at, length }) => {
      const range = [String(at), String(at + length - 1)]
      return (await commands.keyed('GETRANGE', layout.bodyKey(key, id), range)) as Bytes
    },
    drop: async (key, id) => {
      await commands.keyed('UNLINK', layout.bodyKey(key, id), [])
    },
  }
}
