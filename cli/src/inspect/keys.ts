/** Entries as they are named on the command line, to the keys that are meant. */
import { keyOf, keysOf } from 'breakwater/admin'
import { usage } from '../ending.ts'
import type { KeyGiven } from './command.ts'

/** For each the keys that it can mean, the likeliest first. */
export function keysGiven(
  keys: readonly string[],
  { resource, resourceVersion, arg }: KeyGiven,
): (readonly [string, ...string[]])[] {
  if (resource === undefined) {
    if (arg !== undefined) throw usage('--arg: expected with --resource NAME, got it alone')
    if (keys.length === 0) throw usage('KEY: expected a key, or --resource NAME, got none')
    return keys.map((key) => keysOf(key) as [string, ...string[]])
  }
  if (keys.length > 0)
    throw usage(`--resource: expected without a key, got ${JSON.stringify(keys[0])}`)
  return [[keyOf({ resource, version: resourceVersion, arg: argOf(arg) })]]
}

function argOf(text: string | undefined): unknown {
  if (text === undefined) return undefined
  try {
    return JSON.parse(text)
  } catch {
    throw usage(`--arg: expected JSON, as in --arg '"keyboards"' or --arg 42, got ${text}`)
  }
}
