/**
 * What the imagined source does when it is asked: most often it answers soon, but it also takes its
 * time, fails in every way, never answers, and heeds the load's signal or not.
 */
import type { BatchContext, EntryContext, LoadContext } from '../api.ts'
import type { Host } from './host.ts'
import type { Random } from './random.ts'
import type { Shape } from './shapes.ts'
import type { Origin, Row, Source, Value } from './source.ts'
import type { Timeline } from './timeline.ts'

export interface LoadWatch {
  /** `previous`: what the loader was given to begin with. */
  began(row: Row, origin: Origin, previous: Value | undefined): void
  /** One call of a loader begins or ends, or is given up by the cache. */
  running(change: 1 | -1): void
}

export interface LoaderOptions {
  readonly process: number
  readonly host: Host
  readonly timeline: Timeline
  readonly random: Random
  readonly source: Source
  readonly watch: LoadWatch
  /** Ends loads that never end by themselves, when all is over. */
  readonly hanging: Set<() => void>
}

type Ending = 'value' | 'same' | 'noStore' | 'private' | 'short' | 'fail' | 'throw' | 'hang'

/** The code by which a failure is known in other processes. */
export function failureOf(origin: Origin): Error {
  return Object.assign(new Error(`load ${origin.id} failed`), { code: `L${origin.id}` })
}

export function originOfCode(source: Source, code: unknown): Origin | undefined {
  const id = /^L(\d+)$/.exec(String(code))?.[1]
  return id === undefined ? undefined : source.origins[Number(id)]
}

export class Loader {
  readonly #options: LoaderOptions

  constructor(options: LoaderOptions) {
    this.#options = options
  }

  load(shape: Shape, row: Row, ctx: LoadContext): Promise<Value> {
    const { source, watch } = this.#options
    const previous = ctx.previous?.value as Value | undefined
    const origin = this.#begin(row)
    watch.began(row, origin, previous)
    const ending = this.#ending(shape)
    if (ending === 'throw') {
      this.#end(origin)
      throw failureOf(origin)
    }
    const ran = this.#run(shape, [origin], ctx.signal, ending === 'hang')
    return ran.then(() => {
      if (ending === 'fail') throw failureOf(origin)
      const before = previous === undefined ? undefined : source.origins[previous.o]
      if (ending === 'same' && before !== undefined && before.version === origin.version) {
        // The older value, found right as of this load.
        before.asOf = Math.max(before.asOf, origin.asOf)
        before.endedAt = this.#options.timeline.now
        return ctx.notModified()
      }
      return this.#value(origin, ending, ctx)
    })
  }

  loadMany(
    shape: Shape,
    rows: readonly Row[],
    ctx: BatchContext<string>,
  ): Promise<(Value | Error)[]> {
    const origins = rows.map((row) => {
      const origin = this.#begin(row)
      this.#options.watch.began(row, origin, undefined)
      return origin
    })
    const whole = this.#ending(shape)
    if (whole === 'throw') {
      for (const origin of origins) this.#end(origin)
      throw failureOf(origins[0]!)
    }
    return this.#run(shape, origins, ctx.signal, whole === 'hang').then(() => {
      if (whole === 'fail') throw failureOf(origins[0]!)
      return origins.map((origin, n) => {
        const ending = this.#ending(shape)
        if (ending === 'fail' || ending === 'throw') return failureOf(origin)
        return this.#value(origin, ending, ctx.entry(rows[n]!.arg))
      })
    })
  }

  #begin(row: Row): Origin {
    const { source, process, timeline } = this.#options
    return source.originate('load', process, row, timeline.now)
  }

  #end(origin: Origin): void {
    origin.isRunning = false
    origin.endedAt = this.#options.timeline.now
  }

  #ending(shape: Shape): Ending {
    const { random } = this.#options
    if (random.chance(shape.failing)) {
      return random.weighted({ fail: 60, throw: 20, hang: 8 })
    }
    return random.weighted({ value: 80, same: 12, short: 3, noStore: 2, private: 2 })
  }

  #value(origin: Origin, ending: Ending, ctx: EntryContext): Value {
    const { random, source } = this.#options
    if (ending === 'short') ctx.ttl(300)
    if (ending === 'noStore' || ending === 'private') source.rows[origin.row]!.wasUncacheable = true
    if (ending === 'noStore') ctx.noStore()
    if (ending === 'private') ctx.private()
    if (ending === 'noStore') origin.kept = 'shared'
    if (ending === 'private') origin.kept = 'private'
    const value = source.valueOf(origin)
    return random.chance(0.2) ? { ...value, gone: true } : value
  }

  /** Resolves when the source has answered; rejects where it heeds the signal. */
  #run(
    shape: Shape,
    origins: readonly Origin[],
    signal: AbortSignal,
    hangs: boolean,
  ): Promise<void> {
    const { timeline, host, random, watch, hanging } = this.#options
    const heeds = random.chance(0.5)
    const ms = Math.min(shape.slowestMs, 1 + (shape.slowestMs / 8) * -Math.log1p(-random.next()))
    watch.running(1)
    return new Promise((resolve, reject) => {
      let isCounted = true
      const leave = (): void => {
        if (isCounted) watch.running(-1)
        isCounted = false
      }
      const end = (): void => {
        if (!hanging.delete(end)) return
        leave()
        for (const origin of origins) this.#end(origin)
        resolve()
      }
      hanging.add(end)
      signal.addEventListener('abort', () => {
        leave()
        for (const origin of origins) origin.isGivenUp = true
        if (!heeds) return
        hanging.delete(end)
        for (const origin of origins) this.#end(origin)
        reject(signal.reason)
      })
      if (!hangs) timeline.after(ms, () => host.deliver('input', end))
    })
  }
}
