/** The options of both guards, checked once, in one place. */
import { durationMs } from '../core/duration.ts'
import { invalidOption } from '../core/errors.ts'
import { keyText } from '../core/keys.ts'
import { checkNames, type Given } from '../core/option-names.ts'
import { connectionOf } from '../redis/client-connection.ts'
import type { RedisConnection } from '../redis/commands.ts'
import type { MemoryGuardOptions, RedisGuardOptions } from './option-types.ts'

export interface Wanted<Arg> {
  readonly capacity: number
  readonly errorRate: number
  /** The text that is hashed. Throws `INVALID_KEY`, or what `key` throws. */
  text(arg: Arg): string
}

export interface RedisWanted<Arg> extends Wanted<Arg> {
  readonly client: object
  readonly connection: RedisConnection
  readonly name: string
  readonly replica: boolean
  readonly timeoutMs: number
}

export const defaultTimeoutMs = 100

const memoryNames = new Set(['capacity', 'errorRate', 'key'])
const redisNames = new Set([...memoryNames, 'client', 'name', 'replica', 'timeout'])

export function memoryOptions<Arg>(options: MemoryGuardOptions<Arg>): Wanted<Arg> {
  const given = checkNames(options, { names: memoryNames }, 'memoryGuard.')
  return wanted(given, 'memoryGuard')
}

export function redisOptions<Arg>(options: RedisGuardOptions<Arg>): RedisWanted<Arg> {
  const given = checkNames(options, { names: redisNames }, 'redisGuard.')
  const { client, name, replica = false, timeout = defaultTimeoutMs } = given
  const connection = connectionOf('redisGuard.client', client)
  if (typeof name !== 'string' || !/^[A-Za-z0-9._-]{1,64}$/.test(name)) {
    throw invalidOption('redisGuard.name', '1 to 64 characters of A-Z a-z 0-9 . _ -', name)
  }
  if (typeof replica !== 'boolean') {
    throw invalidOption('redisGuard.replica', 'a boolean', replica)
  }
  return {
    ...wanted(given, 'redisGuard'),
    client: client as object,
    connection,
    name,
    replica,
    timeoutMs: durationMs(timeout, 'redisGuard.timeout'),
  }
}

/** More would not fit into the numbers of a shard, or of JavaScript. */
const mostIds = 1e11

function wanted<Arg>({ capacity, errorRate, key }: Given, factory: string): Wanted<Arg> {
  if (typeof capacity !== 'number' || !Number.isInteger(capacity) || capacity < 1) {
    throw invalidOption(`${factory}.capacity`, 'a whole number of at least 1', capacity)
  }
  if (capacity > mostIds) throw invalidOption(`${factory}.capacity`, 'at most 1e11', capacity)
  if (typeof errorRate !== 'number' || !(errorRate > 0 && errorRate < 1)) {
    throw invalidOption(`${factory}.errorRate`, 'a share between 0 and 1', errorRate)
  }
  if (errorRate < 1e-30) throw invalidOption(`${factory}.errorRate`, 'at least 1e-30', errorRate)
  if (key !== undefined && typeof key !== 'function') {
    throw invalidOption(`${factory}.key`, 'a function', key)
  }
  const keyOf = key as ((arg: Arg) => unknown) | undefined
  return {
    capacity,
    errorRate,
    text: keyOf === undefined ? keyText : (arg) => keyText(keyOf(arg)),
  }
}
