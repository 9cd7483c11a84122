/**
 * The capture as a whole: sessions one after the other until it is closed, with pauses that grow while
 * they fail, and what it says of itself. A database that is not there is a state and never an error of
 * the cache: it goes on with its lifetimes.
 */
import type { Companion, CompanionHealth } from '../cache/companions.ts'
import type { Engine } from '../cache/engine.ts'
import type { ChangesHealth } from '../core/events.ts'
import { BreakwaterError } from '../core/errors.ts'
import { Capture } from './capture.ts'
import type { ChangesRules } from './changes-options.ts'
import { notifySession } from './notify-session.ts'
import { noPublicationFor, publicationFor } from './publication-sql.ts'
import { replicationSession } from './replication-session.ts'
import { noTriggersFor, triggersFor } from './trigger-sql.ts'

const retryMs = { first: 100, most: 5_000 }
/** What is older and still not taken is not well. */
const slowMs = 5_000

export class PostgresCapture implements Companion {
  readonly #rules: ChangesRules
  readonly #engine: Engine
  readonly #capture: Capture
  #running: Promise<void> | undefined
  #started: Promise<void> | undefined
  #closing: Promise<void> | undefined

  constructor(rules: ChangesRules, engine: Engine) {
    this.#rules = rules
    this.#engine = engine
    this.#capture = new Capture(rules, engine)
  }

  /** Idempotent. Resolves when the first attempt is over or takes long; rejects with a refusal. */
  start(): Promise<void> {
    if (this.#closing !== undefined || this.#engine.state !== 'open') {
      return Promise.reject(new BreakwaterError('CLOSED', `changes ${this.#rules.name}: closed`))
    }
    this.#started ??= awake(
      new Promise((resolve, reject) => {
        this.#engine.companions.add(this)
        const running = this.#engine.detached(() => this.#run({ resolve, reject }))
        this.#running = running.finally(resolve)
      }),
    )
    // Who does not wait for it is told by events and by health().
    this.#started.catch(() => {})
    return this.#started
  }

  sql(): string {
    const { mode, name, tables } = this.#rules
    return mode === 'notify' ? triggersFor(name, tables) : publicationFor(name, tables)
  }

  uninstallSql(): string {
    const { mode, name, tables } = this.#rules
    return mode === 'notify'
      ? noTriggersFor(name, tables)
      : noPublicationFor(name, this.#capture.slot)
  }

  execute(sql: string): Promise<void> {
    return awake(this.#execute(sql))
  }

  /** All of it or nothing: texts of several statements are one transaction. */
  async #execute(sql: string): Promise<void> {
    const link = await this.#capture.connect()
    try {
      await link.query(sql, undefined, Infinity)
    } finally {
      await link.close()
    }
  }

  describe(): ChangesHealth {
    const { state, why, totals, heldBytes, taker } = this.#capture
    const now = this.#engine.clock.now()
    return {
      name: this.#rules.name,
      mode: this.#rules.mode,
      state,
      ...(why === undefined ? {} : { why }),
      pending: taker.size,
      lagMs: taker.since === undefined ? 0 : Math.max(0, Math.ceil(now - taker.since)),
      heldBytes,
      ...totals,
    }
  }

  health(): CompanionHealth {
    const told = this.describe()
    const isUp = told.state === 'live' || told.state === 'standby'
    const isWell = isUp && told.lagMs < slowMs && told.heldBytes <= this.#rules.warnBytes
    return { changes: [told], isWell }
  }

  close(): Promise<void> {
    this.#closing ??= this.#close()
    return this.#closing
  }

  async #close(): Promise<void> {
    this.#capture.end()
    await this.#capture.taker.close()
    await this.#running
    this.#capture.say('closed')
    this.#engine.companions.delete(this)
  }

  async #run(first: { resolve(): void; reject(error: unknown): void }): Promise<void> {
    const capture = this.#capture
    const session = this.#rules.mode === 'notify' ? notifySession : replicationSession
    const settled = this.#engine.listeners.on('changes', ({ name, state }) => {
      if (name !== this.#rules.name || (state !== 'live' && state !== 'standby')) return
      late()
      first.resolve()
    })
    // Older transactions may hold up a slot for hours, and a store that is down its gap.
    const late = this.#engine.clock.after(this.#rules.deadlineMs, first.resolve)
    let why = 'the first start'
    let delayMs = retryMs.first
    while (!capture.signal.aborted) {
      const from = this.#engine.clock.now()
      try {
        await session(capture, why)
      } catch (error) {
        if (capture.signal.aborted) break
        const isRefusal = error instanceof BreakwaterError && error.code === 'INVALID_OPTION'
        capture.say(isRefusal ? 'refused' : 'lost', error)
        // Whatever was changed meanwhile may have gone past unseen.
        if (isRefusal) capture.owed ??= 'the database was not as it must be'
        if (isRefusal) first.reject(error)
        else first.resolve()
        why = isRefusal ? 'the database was not as it must be' : 'the connection was lost'
      }
      capture.endLinks()
      if (this.#engine.clock.now() - from > retryMs.most) delayMs = retryMs.first
      await capture.pause(delayMs * (0.5 + this.#engine.clock.random()))
      delayMs = Math.min(2 * delayMs, retryMs.most)
    }
    capture.endLinks()
    late()
    settled()
  }
}

/** Our connections keep no process alive, except while somebody waits for the first word. */
async function awake<T>(work: Promise<T>): Promise<T> {
  const keep = setInterval(() => {}, 2 ** 30)
  try {
    return await work
  } finally {
    clearInterval(keep)
  }
}
