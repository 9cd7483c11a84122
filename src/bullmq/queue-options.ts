/** The options of `bullmqPrecompute`, checked once, in one place, before any socket is opened. */
import type { Cache } from '../api.ts'
import { engineOf } from '../cache/companions.ts'
import type { Engine } from '../cache/engine.ts'
import { durationMs } from '../core/duration.ts'
import { BreakwaterError, invalidOption } from '../core/errors.ts'
import { checkNames } from '../core/option-names.ts'
import type { BullmqPrecomputeOptions } from './option-types.ts'

export interface QueueOptions {
  readonly cache: Cache
  readonly engine: Engine
  readonly connection: object
  /** The user's own client, which is never ended here. */
  readonly isClient: boolean
  readonly queue: string
  readonly prefix: string
  readonly worker: { readonly concurrency: number; readonly stalledAfterMs: number } | undefined
  /** `undefined`: by the definition's alerts. */
  readonly attempts: number | undefined
  readonly backoff: Backoff | undefined
  readonly keepCompleted: number
  readonly keepFailed: number
}

export interface Backoff {
  readonly type: 'fixed' | 'exponential'
  readonly delayMs: number
}

const caller = 'bullmqPrecompute'
const names = new Set([
  'cache',
  'connection',
  'queue',
  'prefix',
  'worker',
  'attempts',
  'backoff',
  'keepCompleted',
  'keepFailed',
])
const workerLevel = { names: new Set(['concurrency', 'stalledAfter']) }
const backoffLevel = { names: new Set(['type', 'delay']) }
const leastStalledMs = 1_000

export function queueOptions(options: BullmqPrecomputeOptions): QueueOptions {
  const given = checkNames(options, { names }, `${caller}.`)
  const cache = given['cache'] as Cache
  const engine = typeof cache === 'object' && cache !== null ? engineOf(cache) : undefined
  if (engine === undefined) {
    throw invalidOption(`${caller}.cache`, 'a cache that createCache() gave', cache)
  }
  const worker = workerOf(given['worker'])
  const connection = given['connection']
  if (typeof connection !== 'object' || connection === null) {
    throw invalidOption(
      `${caller}.connection`,
      'a client, or options such as { host, port }',
      connection,
    )
  }
  const isClient = 'connect' in connection && typeof connection.connect === 'function'
  if (isClient) checkClient(connection, worker !== undefined)
  return {
    cache,
    engine,
    connection,
    isClient,
    queue: name('queue', given['queue'] ?? 'refresh', ':'),
    prefix: name('prefix', given['prefix'] ?? `{breakwater:${engine.namespace}}`, undefined),
    worker,
    attempts: given['attempts'] === undefined ? undefined : whole('attempts', given['attempts'], 1),
    backoff: backoffOf(given['backoff']),
    keepCompleted: whole('keepCompleted', given['keepCompleted'] ?? 100, 0),
    keepFailed: whole('keepFailed', given['keepFailed'] ?? 1_000, 0),
  }
}

function workerOf(given: unknown): QueueOptions['worker'] {
  if (given === false) return undefined
  const option = `${caller}.worker`
  if (given !== undefined && given !== true && (typeof given !== 'object' || given === null)) {
    throw invalidOption(option, 'a boolean, or an object', given)
  }
  const options = typeof given === 'object' ? checkNames(given, workerLevel, `${option}.`) : {}
  const { concurrency = 16, stalledAfter = '5s' } = options
  const stalledAfterMs = durationMs(stalledAfter, `${option}.stalledAfter`)
  if (stalledAfterMs < leastStalledMs) {
    throw invalidOption(`${option}.stalledAfter`, `at least ${leastStalledMs} ms`, stalledAfter)
  }
  return { concurrency: whole('worker.concurrency', concurrency, 1), stalledAfterMs }
}

/** A client as of ioredis, whose connection for blocking reads is a copy of it. */
function checkClient(client: object, hasWorker: boolean): void {
  const { options } = client as { options?: Record<string, unknown> }
  if (options === undefined) return
  const own = options['redisOptions'] ?? options
  const { maxRetriesPerRequest, keyPrefix } = own as Record<string, unknown>
  // BullMQ would throw: its blocking reads must outlive any number of reconnects.
  if (hasWorker && typeof maxRetriesPerRequest === 'number' && maxRetriesPerRequest > 0) {
    throw refuse(
      `${caller}.connection: expected a client with maxRetriesPerRequest: null, which a worker needs, ` +
        `got ${maxRetriesPerRequest}; make it so, or give its options in place of the client`,
    )
  }
  if (typeof keyPrefix === 'string' && keyPrefix !== '') {
    throw refuse(
      `${caller}.connection: expected a client without keyPrefix, which BullMQ does not take, ` +
        `got '${keyPrefix}'; use the option prefix`,
    )
  }
}

function backoffOf(given: unknown): Backoff | undefined {
  if (given === undefined) return undefined
  const option = `${caller}.backoff`
  const { type, delay } = checkNames(given, backoffLevel, `${option}.`)
  if (type !== 'fixed' && type !== 'exponential') {
    throw invalidOption(`${option}.type`, "'fixed' or 'exponential'", type)
  }
  return { type, delayMs: durationMs(delay, `${option}.delay`) }
}

function name(option: string, given: unknown, without: string | undefined): string {
  const bad = typeof given !== 'string' || given === '' || given.length > 256
  if (!bad && (without === undefined || !given.includes(without))) return given
  const expected = without === undefined ? 'text' : `text without '${without}'`
  throw invalidOption(`${caller}.${option}`, `${expected} of 1 to 256 characters`, given)
}

function whole(option: string, given: unknown, least: number): number {
  if (typeof given === 'number' && Number.isSafeInteger(given) && given >= least) return given
  throw invalidOption(`${caller}.${option}`, `a whole number of at least ${least}`, given)
}

function refuse(sentence: string): BreakwaterError {
  return new BreakwaterError('INVALID_OPTION', sentence)
}
