/** Arguments of a call as ioredis takes them. */
import { asBuffer } from '../core/as-buffer.ts'
import type { Argument, ScriptCall } from './commands.ts'

export type Word = string | number | Uint8Array

/** What follows the script: how many keys, the keys, the arguments. */
export function wordsOf({ keys, args }: ScriptCall): Word[] {
  return [keys.length, ...keys, ...args.map(argumentOf)]
}

/** ioredis writes a Uint8Array that is no Buffer as its comma-separated text. */
export function argumentOf(value: Argument): string | Uint8Array {
  return typeof value === 'string' ? value : asBuffer(value)
}
