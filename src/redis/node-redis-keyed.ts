/**
 * The commands by key that are the same for one server, a cluster and Sentinel, over what sends one
 * command. Never by node-redis's own methods: those would answer from its client-side cache, and
 * arm a timer for each command.
 */
import type { Argument, RedisCommands, ScriptCall } from './commands.ts'
import type { Word } from './node-redis-client.ts'
import type { KeyPrefix } from './node-redis-prefix.ts'

/** To the server of `key`; `reads`: a replica may answer, where the user allows that. */
export type Send = (key: Word, command: readonly Word[], reads: boolean) => Promise<unknown>

/** RESP's mark of a text: `$`. */
const textMark = 0x24

/** Set whatever the user's client has set to other values. */
const plain = { timeout: 0, abortSignal: undefined, asap: false }

/** Replies with bytes for texts. */
export const asBytes = { ...plain, typeMapping: { [textMark]: Buffer } }
export const asText = { ...plain, typeMapping: {} }

export type Keyed = Pick<
  RedisCommands,
  'keyPrefix' | 'get' | 'keyed' | 'evalsha' | 'eval' | 'evalshaMany'
>

export function keyedCommands({ text: keyPrefix, key }: KeyPrefix, send: Send): Keyed {
  const run = (command: string, script: string, { keys, args }: ScriptCall): Promise<unknown> => {
    const names = keys.map(key)
    const words = [command, script, String(keys.length), ...names, ...args.map(word)]
    return send(names[0] ?? '', words, false)
  }
  return {
    keyPrefix,
    get: (name) => {
      const whole = key(name)
      return send(whole, ['GET', whole], true) as Promise<Buffer | null>
    },
    keyed: (command, name, args) => {
      const whole = key(name)
      return send(whole, [command, whole, ...args.map(word)], false)
    },
    evalsha: (sha1, call) => run('EVALSHA', sha1, call),
    eval: (source, call) => run('EVAL', source, call),
    // One write to each server's socket: node-redis writes at the end of a turn.
    evalshaMany: (sha1, calls) =>
      Promise.all(calls.map((call) => run('EVALSHA', sha1, call).catch((error: unknown) => error))),
  }
}

/** node-redis refuses a Uint8Array that is no Buffer. */
export function word(value: Argument): Word {
  if (typeof value === 'string' || Buffer.isBuffer(value)) return value
  return Buffer.from(value.buffer, value.byteOffset, value.byteLength)
}
