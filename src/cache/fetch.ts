/**
 * What a flight does: contend for the right to load, then load, or wait for whoever does. Every
 * wake is followed by the question again; all waiting of one flight shares one `waitTimeout`.
 *
 * Invariant: a flight ends, with a value or an error, within `storeTimeout + waitTimeout + queue +
 * loadTimeout`, and leaves neither a listener nor a lease behind.
 */
import { mayCover } from '../core/decide.ts'
import { BreakwaterError } from '../core/errors.ts'
import type { Unleased } from '../core/events.ts'
import type { Ear } from '../flight/waiters.ts'
import type { Acquired, AcquireRequest, Token } from '../ports.ts'
import { accept, acceptChecked, tellWaited, unpackFor } from './accept.ts'
import {
  isClosed,
  mayAsk,
  usesStore,
  type Answer,
  type Engine,
  type Flying,
  type Work,
} from './engine.ts'
import type { Entry } from './entry.ts'
import { callbackFailed, coverBy } from './failure.ts'
import { lastResort } from './keep.ts'
import { Lease, releaseLease } from './lease.ts'
import { closed, load } from './load.ts'
import { currentTags } from './tag-changes.ts'
import { fromWire, readAsOf } from './wire-error.ts'

/** Runs the work and settles the flight. Never rejects. */
export async function fly(engine: Engine, work: Work, flight: Flying): Promise<void> {
  try {
    flight.resolve(await obtain(engine, work, flight))
  } catch (error) {
    flight.reject(error)
  } finally {
    work.seat?.leave()
    flight.leavePlace()
    engine.flights.remove(flight)
  }
}

async function obtain(engine: Engine, work: Work, flight: Flying): Promise<Answer> {
  if (work.unleased === 'store') return withoutStore(engine, work, flight)
  if (work.unleased !== undefined) return unleased(engine, work, flight, work.unleased)
  if (!usesStore(engine, work.target.source.rules)) return unleased(engine, work, flight, 'local')
  const ear = engine.waiters.listen(work.target.key)
  try {
    return await contendUntilDone(engine, work, flight, ear)
  } finally {
    ear.close()
  }
}

async function unleased(
  engine: Engine,
  work: Work,
  flight: Flying,
  why: Unleased,
): Promise<Answer> {
  // Without a lease there is none to lose in the queue.
  return (await load(engine, work, flight, { lease: undefined, unleased: why })) as Answer
}

async function contendUntilDone(
  engine: Engine,
  work: Work,
  flight: Flying,
  ear: Ear,
): Promise<Answer> {
  const { target } = work
  const { key, source } = target
  const giveUpAt = engine.clock.now() + source.rules.waitTimeoutMs
  let waitedFor: Token | undefined
  let waitedAt: number | undefined
  let pollMs = firstPollMs
  // A failure of before a change by tag, which the store remembers, stands in nobody's way.
  let overrides = false
  const waitEnded = (): void => {
    tellWaited(engine, work, flight, { waitedAt, holder: waitedFor })
    waitedAt = undefined
  }
  const isOfBefore = (failed: Failed): boolean => {
    const { asOf } = readAsOf(failed.error)
    if (!engine.tags.isGoneAfter(asOf, source.labels)) return false
    waitedFor = undefined
    overrides = failed.type === 'backoff'
    return true
  }
  for (;;) {
    flight.phase = 'wait'
    if (engine.flights.isCrowded(key)) {
      work.seat?.leave()
      flight.hasWaited = true
    }
    if (flight.place === undefined) await engine.flights.mayLoad(key)
    const { trust } = engine.hearing
    let current = currentTags(engine)
    ear.forget()
    const mode = work.mode === 'force' ? 'force' : overrides ? 'override' : 'wait'
    const asked = await ask(engine, work, flight, { waitedFor, mode })
    overrides = false
    if (asked === 'gone') return withoutStore(engine, work, flight)
    const { reply, token } = asked
    if (reply.type !== 'lease' && reply.type !== 'nolease') work.seat?.leave()
    if (flight.doomed || flight.deserted || isClosed(engine)) {
      engine.flights.detach(flight)
      const why = isClosed(engine) ? 'close' : 'abort'
      if (reply.type === 'lease') void releaseLease(engine, key, token, why)
      throw closed(key)
    }
    let frame: Uint8Array
    switch (reply.type) {
      case 'lease': {
        waitEnded()
        const lease = new Lease(engine, target, token)
        const answer = await load(engine, work, flight, { lease, unleased: undefined })
        if (answer !== 'again') return answer
        continue
      }
      case 'nolease':
        return unleased(engine, work, flight, 'nolease')
      case 'failed':
      case 'backoff':
        if (isOfBefore(reply)) continue
        waitEnded()
        throw failedElsewhere(engine, work, flight, reply)
      case 'value':
        frame = reply.frame
        break
      case 'wait': {
        const { ms, token: holder } = reply
        const now = engine.clock.now()
        if (now >= giveUpAt) {
          waitEnded()
          return giveUp(engine, work, flight)
        }
        flight.leavePlace()
        if (flight.outdated) continue // the holder named may be one of before the change
        waitedFor = holder
        waitedAt ??= now
        const polls = !engine.store!.session.hasBus || !engine.hearing.hears(now)
        const jitterMs = 1 + engine.clock.random() * (polls ? pollMs : mostProbeJitterMs)
        const sleepMs = Math.min(polls ? pollMs : ms, ms) + jitterMs
        pollMs = Math.min(pollMs * 2, mostPollMs)
        flight.hasWaited = true
        const wake = await sleep(engine, flight, ear, {
          holder,
          ms: Math.ceil(Math.min(sleepMs, giveUpAt - now)),
        })
        if (flight.doomed || isClosed(engine)) throw closed(key)
        // After a change, what was waited for is of before: the key's news are asked for again.
        if (wake.type === 'again' || flight.outdated) continue
        if (wake.type === 'failed' && isOfBefore(wake)) continue
        if (wake.type === 'failed') {
          waitEnded()
          throw failedElsewhere(engine, work, flight, wake)
        }
        current = currentTags(engine)
        frame = wake.frame
        break
      }
    }
    const unpacking = unpackFor(engine, work, frame)
    const got = { unpacked: unpacking, trust, waitedAt, holder: waitedFor }
    const { unpacked } = got
    const answer =
      current === undefined && !(unpacked instanceof Promise)
        ? accept(engine, work, flight, { ...got, unpacked })
        : { lookUp: [], current }
    if (answer !== undefined && !('lookUp' in answer)) return answer
    if (answer !== undefined) {
      const checked = await acceptChecked(engine, work, flight, { ...got, ...answer })
      if (checked !== undefined) return checked
    }
    const mark = work.known
    if (mark?.uncacheable === undefined) continue
    if (mark.uncacheable === 'private') {
      return { entry: mark, outcome: 'waited', tier: 'store', private: true }
    }
    work.known = undefined
    return unleased(engine, work, flight, 'uncacheable')
  }
}

const firstPollMs = 10
const mostPollMs = 250
/** Many processes look when a lease ends; not all in the same millisecond. */
const mostProbeJitterMs = 25

type Failed = { readonly error: string } & (
  | { readonly type: 'failed'; readonly backoffMs: number }
  | { readonly type: 'backoff'; readonly ms: number }
)

async function ask(
  engine: Engine,
  work: Work,
  flight: Flying,
  how: { readonly waitedFor: Token | undefined; readonly mode: AcquireRequest['mode'] },
): Promise<{ readonly reply: Acquired; readonly token: Token } | 'gone'> {
  const { key, source } = work.target
  if (!mayAsk(engine, source.rules, key)) return 'gone'
  flight.phase = 'ask'
  flight.outdated = false
  const { controls } = flight
  controls.abandoned = () => {
    flight.doomed = true
    engine.flights.detach(flight)
  }
  const token = engine.newToken()
  const { leaseMs } = source.rules
  // Values that are made ahead are fetched into memory everywhere as soon as they are there.
  const announces = source.rules.precompute !== undefined
  const request = { key, token, leaseMs, seen: work.seen, announces, ...how } as const
  try {
    const reply = await engine.store!.call(
      'acquire',
      key,
      (session) => session.acquire(request),
      (late) => {
        if (late.type === 'lease') void releaseLease(engine, key, token, 'late')
      },
    )
    return { reply, token }
  } catch {
    return 'gone'
  } finally {
    controls.abandoned = undefined
  }
}

async function sleep(
  engine: Engine,
  flight: Flying,
  ear: Ear,
  until: { readonly holder: Token; readonly ms: number },
): ReturnType<Ear['wait']> {
  flight.phase = 'wait'
  flight.controls.abandoned = () => {
    flight.doomed = true
    engine.flights.detach(flight)
    ear.rouse()
  }
  try {
    return await ear.wait(until.holder, until.ms, engine.clock)
  } finally {
    flight.controls.abandoned = undefined
  }
}

function failedElsewhere(engine: Engine, work: Work, flight: Flying, failed: Failed): unknown {
  const { target, known } = work
  const { key, source } = target
  const { rules, name } = source
  const { text } = readAsOf(failed.error)
  const error = fromWire(text, rules, key, (fault) => {
    callbackFailed(engine, { name, key }, 'errors', fault)
  })
  const now = engine.clock.now()
  const backoffMs = failed.type === 'failed' ? failed.backoffMs : failed.ms
  if (backoffMs > 0 && !flight.outdated) {
    const covered = known !== undefined && mayCover(known, now, rules)
    const { tick } = engine.tags
    engine.cooldowns.set(key, { until: now + backoffMs, tick, error, covered })
  }
  return error
}

/** All the time there is for waiting has passed: stale if that is allowed, else a load of our own. */
function giveUp(engine: Engine, work: Work, flight: Flying): Answer | Promise<Answer> {
  const { key, source } = work.target
  const stale = coverBy(engine, source, key, work, 'timeout')
  if (stale !== undefined && work.mode === 'share') return stale
  if (flight.isWanted) return unleased(engine, work, flight, 'waited')
  throw new BreakwaterError('WAIT_TIMEOUT', `${key}: no refresh came from elsewhere`, { key })
}

/** With this a flight ends that nobody waits for, and that is not to load without the store. */
export const stranded: unique symbol = Symbol('the store is gone')

/** The store is gone: what memory still has may cover, and the source is asked through the limiter. */
function withoutStore(engine: Engine, work: Work, flight: Flying): Promise<Answer> {
  if (work.mayGoAlone === false && !flight.isWanted) return Promise.reject(stranded)
  const known: Entry | undefined = lastResort(
    engine,
    work.target.key,
    work.known,
    engine.clock.now(),
  )
  work.known = known
  return unleased(engine, work, flight, 'store')
}
