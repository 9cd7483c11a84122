/**
 * What a flight does: contend for the right to load, then load, or wait for whoever does. Every
 * wake is followed by the question again; all waiting of one flight shares one `waitTimeout`.
 *
 * Invariant: a flight ends, with a value or an error, within `storeTimeout + waitTimeout + queue +
 * loadTimeout`, and leaves neither a listener nor a lease behind.
 */
import { contend, decide, mayCover } from '../core/decide.ts'
import { BreakwaterError } from '../core/errors.ts'
import { longestTimerMs } from '../core/lifetime.ts'
import type { Unleased } from '../core/events.ts'
import type { Flight } from '../flight/flight.ts'
import type { Ear } from '../flight/waiters.ts'
import type { Acquired, Token } from '../ports.ts'
import { usesStore, type Answer, type Engine, type Work } from './engine.ts'
import type { Entry } from './entry.ts'
import { lastResort } from './keep.ts'
import { Lease, releaseLease } from './lease.ts'
import { closed, cover as coverError, load, staleAnswer, type How } from './load.ts'
import { takeIn } from './look.ts'
import { fromWire } from './wire-error.ts'

/** Runs the work and settles the flight. Never rejects. */
export async function fly(engine: Engine, work: Work, flight: Flight<Answer>): Promise<void> {
  const { target } = work
  const { rules } = target.source
  const cover = (): Answer | undefined => {
    const { known } = work
    if (work.mode !== 'share' || known === undefined || known.startedAt < work.since)
      return undefined
    return mayCover(known, engine.clock.now(), rules)
      ? staleAnswer(engine, target.key, known)
      : undefined
  }
  flight.cover = cover
  flight.forget = () => {
    work.known = undefined
  }
  let stopSoftTimer: (() => void) | undefined
  if (rules.softTimeoutMs !== undefined && !flight.background) {
    stopSoftTimer = engine.clock.after(Math.min(rules.softTimeoutMs, longestTimerMs), () => {
      const answer = cover()
      if (answer !== undefined) flight.answerEarly(answer)
    })
  }
  try {
    flight.resolve(await obtain(engine, work, flight))
  } catch (error) {
    flight.reject(error)
  } finally {
    stopSoftTimer?.()
    engine.flights.remove(flight)
  }
}

async function obtain(engine: Engine, work: Work, flight: Flight<Answer>): Promise<Answer> {
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
  flight: Flight<Answer>,
  why: Unleased,
): Promise<Answer> {
  const how: How = { lease: undefined, unleased: why }
  const answer = await load(engine, work, flight, how)
  return answer === 'again' ? unleased(engine, work, flight, why) : answer
}

async function contendUntilDone(
  engine: Engine,
  work: Work,
  flight: Flight<Answer>,
  ear: Ear,
): Promise<Answer> {
  const { target } = work
  const { key, source } = target
  const { rules } = source
  const begunAt = engine.clock.now()
  const giveUpAt = begunAt + rules.waitTimeoutMs
  let waitedFor: Token | undefined
  let waitedAt: number | undefined
  let pollMs = firstPollMs
  let mode: 'force' | 'wait' = work.mode === 'force' ? 'force' : 'wait'
  for (;;) {
    await engine.flights.turn(key)
    const { trust } = engine.hearing
    ear.forget()
    const asked = await ask(engine, work, flight, { waitedFor, mode })
    if (asked === 'gone') return withoutStore(engine, work, flight)
    const { reply, token } = asked
    if (flight.doomed || flight.deserted || engine.closed) {
      engine.flights.detach(flight)
      if (reply.type === 'lease')
        void releaseLease(engine, key, token, engine.closed ? 'close' : 'abort')
      throw closed(key)
    }
    let frame: Uint8Array | undefined
    switch (contend(reply.type, mayCoverNow(engine, work))) {
      case 'load': {
        mode = 'wait'
        const lease = new Lease(engine, target, token)
        const answer = await load(engine, work, flight, { lease, unleased: undefined })
        if (answer !== 'again') return answer
        continue
      }
      case 'load-unleased':
        return unleased(engine, work, flight, 'nolease')
      case 'fail':
      case 'serve-stale': {
        const { error: text } = reply as Acquired & { type: 'failed' | 'backoff' }
        const backoffMs =
          reply.type === 'backoff' ? reply.ms : (reply as { backoffMs: number }).backoffMs
        return failedElsewhere(engine, work, text, backoffMs)
      }
      case 'take':
        frame = (reply as Acquired & { type: 'value' }).frame
        break
      case 'wait': {
        const { ms, token: holder } = reply as Acquired & { type: 'wait' }
        const now = engine.clock.now()
        const leftMs = giveUpAt - now
        if (leftMs <= 0) return giveUp(engine, work, flight)
        waitedFor = holder
        waitedAt ??= now
        flight.phase = 'wait'
        flight.abandoned = () => {
          flight.doomed = true
          engine.flights.detach(flight)
          ear.rouse()
        }
        const polls = !engine.store!.session.hasBus || engine.hearing.isDeaf(now)
        const jitterMs = 1 + engine.clock.random() * (polls ? pollMs : 25)
        const sleepMs = Math.min(polls ? pollMs : ms, ms) + jitterMs
        pollMs = Math.min(pollMs * 2, mostPollMs)
        const wake = await ear.wait(
          holder,
          Math.ceil(Math.min(sleepMs, leftMs, longestTimerMs)),
          engine.clock,
        )
        flight.abandoned = undefined
        if (flight.doomed || engine.closed) throw closed(key)
        if (wake.type === 'again') continue
        if (wake.type === 'failed') return failedElsewhere(engine, work, wake.error, wake.backoffMs)
        frame = wake.frame
        break
      }
    }
    const answer = accept(engine, work, flight, { frame: frame!, trust, waitedAt })
    if (answer !== undefined) return answer
    const mark = markOf(work)
    if (mark === undefined) continue
    if (mark.uncacheable === 'private')
      return { entry: mark, outcome: 'waited', tier: 'store', private: true }
    work.known = undefined
    return unleased(engine, work, flight, 'uncacheable')
  }
}

const firstPollMs = 10
const mostPollMs = 250

interface Asked {
  readonly reply: Acquired
  readonly token: Token
}

async function ask(
  engine: Engine,
  work: Work,
  flight: Flight<Answer>,
  how: { readonly waitedFor: Token | undefined; readonly mode: 'force' | 'wait' },
): Promise<Asked | 'gone'> {
  const { key, source } = work.target
  flight.phase = 'ask'
  flight.outdated = false
  flight.abandoned = () => {
    flight.doomed = true
    engine.flights.detach(flight)
  }
  const token = engine.newToken()
  const request = { key, token, leaseMs: source.rules.leaseMs, seen: work.seen, ...how }
  try {
    const reply = await engine.store!.call(
      'acquire',
      (session) => session.acquire(request),
      (late) => {
        if (late.type === 'lease') void releaseLease(engine, key, token, 'late')
      },
    )
    return { reply, token }
  } catch {
    return 'gone'
  } finally {
    flight.abandoned = undefined
  }
}

/** A frame that came with the answer or with a push: served, or the reason to ask once more. */
function accept(
  engine: Engine,
  work: Work,
  flight: Flight<Answer>,
  got: {
    readonly frame: Uint8Array
    readonly trust: number
    readonly waitedAt: number | undefined
  },
): Answer | undefined {
  const { target } = work
  const { key, source } = target
  const taken = { bytes: got.frame, known: work.known, trust: got.trust, outdated: flight.outdated }
  const entry = takeIn(engine, source, key, taken)
  work.known = entry
  work.seen = entry?.stamp ?? 'unreadable'
  if (entry === undefined || entry.uncacheable !== undefined) return undefined
  if (entry.startedAt < work.since) return undefined
  const now = engine.clock.now()
  const decision = decide(entry, now, source.rules)
  if (decision === 'load') return undefined
  if (decision === 'stale') return flight.background ? undefined : staleAnswer(engine, key, entry)
  if (got.waitedAt === undefined) return { entry, outcome: 'hit', tier: 'store', private: false }
  const ms = now - got.waitedAt
  engine.listeners.tell('waited', () => ({ name: source.name, key, ms }))
  return { entry, outcome: 'waited', tier: 'store', private: false }
}

function markOf(work: Work): Entry | undefined {
  return work.known?.uncacheable === undefined ? undefined : work.known
}

function mayCoverNow(engine: Engine, work: Work): boolean {
  const { known, target } = work
  if (known === undefined || known.startedAt < work.since) return false
  return mayCover(known, engine.clock.now(), target.source.rules)
}

function failedElsewhere(engine: Engine, work: Work, text: string, backoffMs: number): Answer {
  const { key, source } = work.target
  const { rules, name } = source
  const error = fromWire(text, rules, key, (fault) => {
    engine.listeners.tell('callbackFailed', () => ({ name, key, callback: 'errors', error: fault }))
  })
  const now = engine.clock.now()
  if (backoffMs > 0) {
    engine.cooldowns.set(key, { until: now + backoffMs, error, covered: mayCoverNow(engine, work) })
  }
  return coverError(engine, work, error)
}

/** All the time there is for waiting has passed: stale if that is allowed, else a load of our own. */
function giveUp(engine: Engine, work: Work, flight: Flight<Answer>): Answer | Promise<Answer> {
  if (mayCoverNow(engine, work)) return staleAnswer(engine, work.target.key, work.known!)
  if (flight.isWanted) return unleased(engine, work, flight, 'waited')
  const { key } = work.target
  throw new BreakwaterError('WAIT_TIMEOUT', `${key}: no refresh came from elsewhere`, { key })
}

/** The store is gone: what memory still has may cover, and the source is asked through the limiter. */
function withoutStore(engine: Engine, work: Work, flight: Flight<Answer>): Promise<Answer> {
  const known: Entry | undefined = lastResort(engine, work.known, engine.clock.now())
  work.known = known
  return unleased(engine, work, flight, 'store')
}
