/** Calls of the imagined users: begun as planned, and each judged when it settles. */
import type { Call, Lookup, Peek } from '../api.ts'
import { isReading, type Judge, type Made } from './judge.ts'
import type { OutageWatch } from './outage-watch.ts'
import type { Command } from './plan.ts'
import type { SimulatedProcess } from './simulated-process.ts'
import { tagOf } from './simulated-process.ts'
import type { Row, Source, Value } from './source.ts'
import type { Timeline } from './timeline.ts'

export interface CallsOptions {
  readonly timeline: Timeline
  readonly source: Source
  readonly judge: Judge
  readonly outages: OutageWatch
  /** Those that have not settled. */
  readonly open: Set<Made>
}

export class Calls {
  readonly #options: CallsOptions
  #made = 0
  readonly open: ReadonlySet<Made>

  constructor(options: CallsOptions) {
    this.#options = options
    this.open = options.open
  }

  make(process: SimulatedProcess, command: Command): void {
    const row = this.#options.source.rows[command.row]!
    switch (command.verb) {
      case 'lookup':
      case 'get':
      case 'peek':
      case 'refresh':
      case 'getMany':
        return this.#read(process, command, row)
      case 'invalidate':
      case 'set':
      case 'expire':
      case 'invalidateTags':
      case 'expireTags':
      case 'clear':
      case 'expireAll':
        return this.#change(process, command, row)
    }
  }

  /** When all has settled: whatever a process has heard or not, it must have the newest by now. */
  makeLast(process: SimulatedProcess, row: Row): void {
    const command = { at: 0, process: 0, verb: 'lookup', row: row.id } as const
    this.#read(process, command, row, true)
  }

  #read(process: SimulatedProcess, command: Command, row: Row, isLast = false): void {
    const { judge, source } = this.#options
    const { verb, timeoutMs, maxAgeMs, abortMs } = command
    const resource = process.resource(row)
    const rows = verb === 'getMany' ? source.rows.filter(({ of }) => of === row.of) : [row]
    const made = this.#begin(process, command, rows, isLast)
    let call: Call | undefined
    if (timeoutMs !== undefined || maxAgeMs !== undefined || abortMs !== undefined) {
      call = { timeout: timeoutMs, maxAge: maxAgeMs, signal: this.#signal(made, abortMs) }
    }
    const { arg } = row
    switch (verb) {
      case 'get':
      case 'refresh':
        return this.#settle(made, resource[verb](arg, call), (value: Value) =>
          judge.served(made, row, value),
        )
      case 'getMany':
        return this.#settle(
          made,
          resource.getManySettled(rows.map((one) => one.arg)),
          (all: PromiseSettledResult<Value>[]) => {
            for (const [n, one] of all.entries()) {
              if (one.status === 'fulfilled') judge.served(made, rows[n]!, one.value)
              else judge.failed(made, rows[n]!, one.reason)
            }
          },
        )
      case 'peek':
        return this.#settle(made, resource.peek(arg), (seen: Peek<Value>) => {
          if (seen.state === 'missing') return
          judge.served(made, row, seen.value, { outcome: seen.state === 'fresh' ? 'hit' : 'stale' })
        })
      default:
        return this.#settle(made, resource.lookup(arg, call), (found: Lookup<Value>) => {
          judge.served(made, row, found.value, found as { outcome: string })
        })
    }
  }

  #change(process: SimulatedProcess, command: Command, row: Row): void {
    const { judge, source, timeline } = this.#options
    const { cache } = process
    const resource = process.resource(row)
    const { arg } = row
    const { verb } = command
    const tag = row.tag === '' ? tagOf(arg) : row.tag
    let rows: readonly Row[] = [row]
    if (verb === 'invalidateTags' || verb === 'expireTags') {
      rows = source.rows.filter((one) => one.tag === tag)
    } else if (verb === 'clear' || verb === 'expireAll') {
      rows = source.rows.filter(({ of }) => of === row.of)
    }
    // First the source, then the cache: the other way round nobody can promise anything.
    for (const one of rows) one.version++
    const made = this.#begin(process, command, rows)
    const kind = verb.startsWith('expire') ? 'expired' : 'gone'
    const written = verb === 'set' ? judge.wrote(made, row, timeline.now) : undefined
    const done = (): void => judge.confirmed(made, kind, written)
    const refused = (): void => judge.unconfirmed(made, kind)
    const promised = (): Promise<unknown> => {
      switch (verb) {
        case 'set':
          return resource.set(arg, source.valueOf(written!))
        case 'expire':
          return resource.expire(arg)
        case 'invalidateTags':
          return cache.invalidateTags(tag)
        case 'expireTags':
          return cache.expireTags(tag)
        case 'clear':
          return resource.clear()
        case 'expireAll':
          return resource.expireAll()
        default:
          return resource.invalidate(arg)
      }
    }
    this.#settle(made, promised(), done, refused)
  }

  #begin(process: SimulatedProcess, command: Command, rows: readonly Row[], isLast = false): Made {
    const { timeline, judge, outages, open } = this.#options
    const made: Made = {
      id: this.#made++,
      process,
      verb: command.verb,
      rows,
      begunAt: timeline.now,
      pausedMs: process.host.pausedMs,
      hasTimeout: command.timeoutMs !== undefined,
      isDown: process.cache.health().store !== 'up',
      isOpen: process.state === 'open',
      isLast,
      reason: command.abortMs === undefined ? undefined : new Error(`call ${this.#made} left`),
    }
    open.add(made)
    judge.begun(made)
    if (isReading(made.verb)) outages.begun(made)
    return made
  }

  #signal(made: Made, abortMs: number | undefined): AbortSignal | undefined {
    if (abortMs === undefined) return undefined
    const controller = new AbortController()
    const { timeline } = this.#options
    timeline.after(abortMs, () =>
      made.process.host.deliver('timer', () => controller.abort(made.reason)),
    )
    return controller.signal
  }

  #settle<T>(
    made: Made,
    promise: Promise<T>,
    well: (result: T) => void,
    refused?: () => void,
  ): void {
    const { judge, open } = this.#options
    const over = (): void => {
      open.delete(made)
      judge.settled(made)
    }
    promise.then(
      (result) => {
        over()
        well(result)
      },
      (error: unknown) => {
        over()
        refused?.()
        for (const row of made.rows.slice(0, 1)) judge.failed(made, row, error)
      },
    )
  }
}
