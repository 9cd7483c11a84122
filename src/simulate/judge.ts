/** What a call got, held against what it may get: I3, I4, I6 and I8 of the design. */
import type { Changes, ChangeKind } from './changes.ts'
import { originOfCode } from './loader.ts'
import type { Verb } from './plan.ts'
import { shapes, type AnyShape } from './shapes.ts'
import { patience } from './patience.ts'
import type { Operation } from './server.ts'
import type { SimulatedProcess } from './simulated-process.ts'
import type { Origin, Row, Source, Value } from './source.ts'
import type { Timeline } from './timeline.ts'
import type { Trace } from './trace.ts'
import type { Invariant, Verdict } from './verdict.ts'

/** A call that was made. */
export interface Made {
  readonly id: number
  readonly process: SimulatedProcess
  readonly verb: Verb
  readonly rows: readonly Row[]
  readonly begunAt: number
  /** Of its process, at the beginning. */
  readonly pausedMs: number
  readonly hasTimeout: boolean
  /** By what its process knew at the beginning: the store does not answer. */
  readonly isDown: boolean
  /** At the beginning. */
  readonly isOpen: boolean
  /** Made when all has settled. */
  readonly isLast: boolean
  /** With which it will be aborted. */
  readonly reason: Error | undefined
}

export interface JudgeOptions {
  readonly timeline: Timeline
  readonly source: Source
  readonly changes: Changes
  readonly verdict: Verdict
  readonly trace: Trace
}

/** Timers are late, clocks drift, and a waiter looks again a little after the lease has ended. */
const slackMs = 60
/** From the design: I4. */
const boundMs =
  patience.storeTimeout + patience.waitTimeout + patience.queue + patience.loadTimeout + slackMs
/** Three operations one after the other: a `set` asks for tags, writes, and may have to take back. */
const changeBoundMs = 3 * patience.storeTimeout + slackMs
const deafAfterMs = 5_000
/** Processes know the server's time to about half a round trip, of at most 2 s. */
const clockErrorMs = 1_100

export class Judge {
  readonly #options: JudgeOptions
  /** Values that are one caller's own, and whether somebody has got them. */
  readonly #given = new Set<number>()

  constructor(options: JudgeOptions) {
    this.#options = options
  }

  begun({ id, process, verb, rows }: Made): void {
    const { trace, timeline, verdict } = this.#options
    verdict.count('operations')
    trace.add(
      timeline.now,
      () => `p${process.id} #${id} ${verb} ${rows.map(({ key }) => key).join()}`,
    )
  }

  settled(made: Made): void {
    const { timeline } = this.#options
    const { process, begunAt, pausedMs, verb, rows } = made
    if (process.state === 'crashed') return
    const isRead = isReading(verb)
    const tookMs = timeline.now - begunAt - (process.host.pausedMs - pausedMs)
    // Once per process, before it knows whether there is a store.
    const isFirst = begunAt - process.bornAt < patience.connectTimeout + patience.storeTimeout
    const connectMs = isFirst ? patience.connectTimeout + patience.storeTimeout : 0
    const most = (isRead ? boundMs : changeBoundMs) + connectMs
    if (tookMs <= most) return
    this.#wrong('I4', made, rows[0]!, `took ${tookMs.toFixed(0)} ms, at most ${most}`)
  }

  served(made: Made, row: Row, value: Value, how?: { readonly outcome: string }): void {
    const { source, trace, timeline, verdict } = this.#options
    const { process, id } = made
    const origin = source.origins[value?.o]
    const outcome = how?.outcome ?? 'value'
    verdict.count(outcome)
    trace.add(
      timeline.now,
      () => `p${process.id} #${id} ${row.key} ${outcome} ${JSON.stringify(value)}`,
    )
    if (origin === undefined || origin.row !== row.id || origin.version !== value.v) {
      return this.#wrong('I6', made, row, `got what nobody made: ${JSON.stringify(value)}`)
    }
    this.#judgeAge(made, row, origin, outcome)
    this.#judgeSharing(made, row, origin)
    this.#judgeLife(made, row, origin, outcome)
  }

  failed(made: Made, row: Row, error: unknown): void {
    const { source, trace, timeline, verdict } = this.#options
    const { code, remote, name } = error as { code?: string; remote?: Remote; name?: string }
    const { process, id, verb } = made
    verdict.count('rejected')
    trace.add(
      timeline.now,
      () => `p${process.id} #${id} ${row.key} rejected ${String(code ?? error)}`,
    )
    if (error === made.reason && made.reason !== undefined) return
    const origin = originOfCode(source, remote?.code ?? code)
    if (origin !== undefined) {
      if (!isReading(verb)) this.#wrong('I4', made, row, `a change rejects with ${String(error)}`)
      return this.#judgeAge(made, row, origin, 'failed')
    }
    const isEnding = process.state !== 'open' || !made.isOpen
    if (code === 'CLOSED' && isEnding) return
    if (isReading(verb)) {
      if (code === 'WAIT_TIMEOUT' && made.hasTimeout) return
      if (code === 'LOAD_TIMEOUT' || code === 'OVERLOADED') return
      const isElsewhere = code === 'LOAD_FAILED_ELSEWHERE' && remote?.name !== 'AbortError'
      if (isElsewhere) return
    } else if (code === 'STORE_UNAVAILABLE') return
    const isOfOthers = name === 'AbortError' || String(error).endsWith('left')
    this.#wrong(isOfOthers ? 'I8' : 'I4', made, row, `rejected with ${String(error)} ${code}`)
  }

  /** A value that a caller gives to the cache. */
  wrote({ process }: Made, row: Row, now: number): Origin {
    return this.#options.source.originate('set', process.id, row, now)
  }

  confirmed(made: Made, kind: ChangeKind, written: Origin | undefined): void {
    const { changes, timeline, trace } = this.#options
    const { process, rows, begunAt, id } = made
    trace.add(timeline.now, () => `p${process.id} #${id} confirmed`)
    for (const row of rows) {
      const operation = operationOf(made.verb, row)
      const call = { id, sender: process.id, operation, since: begunAt }
      const change = changes.confirmed(call, row)
      // Where the store keeps the key, a change is applied again when it is confirmed. All others hold
      // from their call on: what began to load meanwhile found the source as it is after the change.
      const isAgain = !isByLabel(made.verb) && !(made.verb === 'set' && row.of === 'local')
      const at = isAgain ? (change?.at ?? begunAt) : begunAt
      // Where the value is for its own process alone, the server was told of the change.
      if (written !== undefined) written.asOf = Math.max(written.asOf, change?.at ?? at)
      changes.known(process.id, row, { ...own(made, kind, at), knownAt: timeline.now, change })
    }
  }

  /** The store did not say so: it holds for its own process all the same. */
  unconfirmed(made: Made, kind: ChangeKind): void {
    const { changes, timeline } = this.#options
    const { process, rows, begunAt, isOpen } = made
    if (!isOpen) return
    const floor = { ...own(made, kind, begunAt), knownAt: timeline.now, change: undefined }
    for (const row of rows) changes.known(process.id, row, floor)
  }

  previous(process: SimulatedProcess, row: Row, origin: Origin, previous: Value): void {
    const { changes, source, verdict } = this.#options
    const before = source.origins[previous.o]!
    const isOwnWrite = before.kind === 'set' && before.process === process.id
    const what = isOwnWrite ? 'own write' : 'value'
    const least = changes.least(process.id, row, origin.beganAt, 'gone', what)
    if (before.asOf >= least) return
    const text = `p${process.id} ${row.key}: previous of ${before.asOf}, changed at ${least}`
    verdict.violated('I3', origin.beganAt, text)
  }

  #judgeAge(made: Made, row: Row, origin: Origin, outcome: string): void {
    const { changes } = this.#options
    const { process, begunAt, isDown } = made
    const { asOf } = origin
    const isOwnWrite = origin.kind === 'set' && origin.process === process.id
    const what = outcome === 'failed' ? 'failure' : isOwnWrite ? 'own write' : 'value'
    const least = changes.least(process.id, row, begunAt, 'gone', what)
    if (asOf < least) {
      this.#wrong(
        'I3',
        made,
        row,
        `${outcome} of load ${origin.id} at ${asOf}, changed at ${least}`,
      )
    }
    if (made.isLast && outcome !== 'failed') {
      const last = changes.last(process.id, row, begunAt)
      if (asOf < last) this.#wrong('end', made, row, `${outcome} of ${asOf}, changed at ${last}`)
    }
    const isFresh = outcome === 'hit' || outcome === 'waited' || outcome === 'loaded'
    if (!isFresh) return
    const stale = changes.least(process.id, row, begunAt, 'expired')
    if (asOf < stale && begunAt - stale > clockErrorMs) {
      this.#wrong(
        'I3',
        made,
        row,
        `${outcome} of load ${origin.id} at ${asOf}, expired at ${stale}`,
      )
    }
    const elsewhere = changes.last(process.id, row, begunAt - deafAfterMs * 1.001 - slackMs)
    if (asOf >= elsewhere) return
    // With the store gone, a process loads for itself: it joins what it has begun, and keeps it fresh
    // for `outageTtl`, whatever is changed elsewhere meanwhile (design: `outageTtl`, "this process only").
    const { endedAt } = origin
    const isOwn = origin.process === process.id && isDown
    if (isOwn && (outcome === 'loaded' || endedAt! + patience.outageTtl + slackMs > begunAt)) return
    this.#wrong('I3', made, row, `${outcome} of ${asOf}, changed elsewhere at ${elsewhere}`)
  }

  #judgeSharing(made: Made, row: Row, origin: Origin): void {
    const { id, kept, endedAt } = origin
    if (kept === 'stored') return
    if (kept === 'private' && this.#given.has(id))
      this.#wrong('I8', made, row, `load ${id} was for one call, and is given to another`)
    this.#given.add(id)
    if (endedAt !== undefined && made.begunAt > endedAt)
      this.#wrong('I8', made, row, `load ${id} was not to be kept, and ended at ${endedAt}`)
  }

  /** No value outlives its ttl as fresh, nor its windows at all. */
  #judgeLife(made: Made, row: Row, { asOf, endedAt, id, beganAt }: Origin, outcome: string): void {
    const { ttlMs, windowMs } = shapes[row.of as keyof typeof shapes] as AnyShape
    const madeAt = Math.max(asOf, endedAt ?? beganAt)
    const age = made.begunAt - madeAt
    const most = ttlMs + (outcome === 'hit' ? 0 : windowMs) + clockErrorMs
    if (age <= most * 1.001) return
    this.#wrong(
      'I3',
      made,
      row,
      `${outcome} of load ${id}, ${age.toFixed(0)} ms old, at most ${most}`,
    )
  }

  #wrong(invariant: Invariant, made: Made, row: Row, text: string): void {
    const { verdict, timeline } = this.#options
    const { id, process, verb } = made
    verdict.violated(invariant, timeline.now, `p${process.id} #${id} ${verb} ${row.key}: ${text}`)
  }
}

/** By tag or by resource: the server keeps an epoch, and has not deleted anything. */
function isByLabel(verb: Verb): boolean {
  return verb.endsWith('Tags') || verb === 'clear' || verb === 'expireAll'
}

/** What the server is asked for. Of a value that it does not keep it is told that there is another. */
function operationOf(verb: Verb, row: Row): Operation {
  if (isByLabel(verb)) return 'bump'
  if (verb === 'expire') return 'expire'
  return verb === 'set' && row.of !== 'local' ? 'write' : 'invalidate'
}

function own({ verb, begunAt }: Made, kind: ChangeKind, at: number) {
  return { kind, at, calledAt: begunAt, isOwn: true, isByTag: verb.endsWith('Tags') }
}

interface Remote {
  readonly name?: string
  readonly code?: string
}

export function isReading(verb: Verb): boolean {
  return ['lookup', 'get', 'getMany', 'peek', 'refresh'].includes(verb)
}
