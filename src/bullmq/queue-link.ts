/**
 * The queue and, where this process loads, its worker: made here, watched, and ended within a bound.
 * No error of theirs goes unheard, and nothing waits for a Redis that does not answer: what cannot be
 * added soon is given up, since whoever wants it comes again.
 */
import { Queue, Worker, type BulkJobOptions, type Job } from 'bullmq'
import type { Engine } from '../cache/engine.ts'
import { BreakwaterError } from '../core/errors.ts'
import type { QueueOptions } from './queue-options.ts'
import { clientOf, disconnect, isReady, type Connected } from './connections.ts'

export interface NewJob {
  readonly name: string
  readonly data: object
  readonly opts: BulkJobOptions
}

export interface Workings {
  process(job: Job, token: string): Promise<unknown>
  /** When the run after that instant is, of a scheduler whose pattern is this text. */
  nextRun(pattern: string, after: number): number
  retryInMs(error: unknown, attempts: number): number
}

const answersWithinMs = 2_000
const longestReconnectMs = 2_000

export class QueueLink {
  readonly #engine: Engine
  readonly #options: QueueOptions
  #queue: Queue | undefined
  #worker: Worker | undefined
  #client: Connected | undefined
  /** What was asked of Redis and is late. */
  #late = 0
  #closing: Promise<void> | undefined

  constructor(engine: Engine, options: QueueOptions) {
    this.#engine = engine
    this.#options = options
  }

  get queue(): Queue {
    return this.#queue!
  }

  /** Would Redis take a job now? */
  get isUp(): boolean {
    return !this.isClosing && this.#late === 0 && isReady(this.#client)
  }

  get isClosing(): boolean {
    return this.#closing !== undefined
  }

  open(workings: Workings): void {
    const { queue: name, prefix, worker, keepCompleted, keepFailed } = this.#options
    const repeatStrategy = (after: number, { pattern = '' }: { pattern?: string }): number =>
      workings.nextRun(pattern, after)
    this.#queue = new Queue(name, {
      prefix,
      connection: this.#connection({ enableOfflineQueue: false, maxRetriesPerRequest: 1 }),
      defaultJobOptions: {
        removeOnComplete: { count: keepCompleted },
        removeOnFail: { count: keepFailed },
      },
      settings: { repeatStrategy },
    })
    this.#queue.on('error', this.tell)
    this.#queue.waitUntilReady().then(async () => {
      this.#client = await clientOf(this.#queue!)
    }, this.tell)
    if (worker === undefined) return
    const { concurrency, stalledAfterMs } = worker
    this.#worker = new Worker(name, (job, token = '') => workings.process(job, token), {
      prefix,
      concurrency,
      connection: this.#connection({ maxRetriesPerRequest: null }),
      lockDuration: stalledAfterMs,
      stalledInterval: Math.ceil(stalledAfterMs / 2),
      // A job may be run again any number of times: it looks whether it is done already.
      maxStalledCount: 1_000,
      runRetryDelay: 1_000,
      settings: {
        repeatStrategy,
        backoffStrategy: (attempts, _type, error) => workings.retryInMs(error, attempts),
      },
    })
    this.#worker.on('error', this.tell)
    this.#worker.on('stalled', (id) => {
      this.tell(new Error(`job ${id} has stalled, and is given to another worker`))
    })
  }

  async ready(): Promise<void> {
    await Promise.all([this.#queue!.waitUntilReady(), this.#worker?.waitUntilReady()])
  }

  readonly tell = (error: unknown): void => {
    // BullMQ tells of connections that end because they are ended.
    if (this.isClosing) return
    this.#engine.listeners.tell('storeFailed', () => ({ operation: 'bullmq', error }))
  }

  /** Rejects where Redis has not taken them. */
  async add(jobs: readonly NewJob[]): Promise<void> {
    if (jobs.length > 0) await this.ask((queue) => queue.addBulk([...jobs]))
  }

  /** Whatever is asked of the queue: rejects soon where there is no answer. */
  async ask<T>(ask: (queue: Queue) => Promise<T>): Promise<T> {
    if (!this.isUp) throw new BreakwaterError('STORE_UNAVAILABLE', 'the queue is not connected')
    let stop: (() => void) | undefined
    let isLate = false
    const late = new Promise<never>((_, reject) => {
      stop = this.#engine.clock.after(answersWithinMs, () => {
        isLate = true
        this.#late++
        reject(new BreakwaterError('STORE_UNAVAILABLE', 'the Redis of the queue did not answer'))
      })
    })
    const answer = ask(this.queue).finally(() => {
      stop?.()
      if (isLate) this.#late--
    })
    return Promise.race([answer, late])
  }

  /**
   * Takes no more jobs. Those under way end first, while the patience lasts; then what is open still
   * is cut, and what was under way stalls and is given to another worker.
   */
  close(patience: () => Promise<void>): Promise<void> {
    this.#closing ??= this.#close(patience)
    return this.#closing
  }

  async #close(patience: () => Promise<void>): Promise<void> {
    const ended = (async () => {
      await this.#worker?.close().catch(() => {})
      await this.#queue?.close().catch(() => {})
    })()
    await Promise.race([ended, patience()])
    // What is gone already does not mind. The user's client is only left.
    disconnect(this.#worker, this.#options.isClient)
    disconnect(this.#queue, this.#options.isClient)
  }

  #connection(usual: object): object {
    const { connection, isClient } = this.#options
    if (isClient) return connection
    const retryStrategy = (times: number): number =>
      Math.min(longestReconnectMs, 50 * 2 ** Math.min(times, 10))
    // BullMQ needs its own way with retries, whatever is given.
    return { retryStrategy, ...connection, ...usual }
  }
}
