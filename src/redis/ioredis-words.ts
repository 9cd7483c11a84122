/** Arguments of a call as ioredis takes them. */
import type { Argument, ScriptCall } from './commands.ts'

export type Word = string | number | Uint8Array

/** What follows the script: how many keys, the keys, the arguments. */
export function wordsOf({ keys, args }: ScriptCall): Word[] {
  return [keys.length, ...keys, ...args.map(argumentOf)]
}

export function argumentOf(value: Argument): string | Uint8Array {
  return typeof value === 'string' ? value : asBuffer(value)
}

/** ioredis writes a Uint8Array that is no Buffer as its comma-separated text. */
export function asBuffer(value: Uint8Array): Buffer {
  return Buffer.isBuffer(value)
    ? value
    : Buffer.from(value.buffer, value.byteOffset, value.byteLength)
}
