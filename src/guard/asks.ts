/**
 * May it exist? One BITFIELD_RO (or BF.MEXISTS) to the id's shard and, for all who ask in one go, one
 * HGET of the epoch in force. That is asked after the call began, and so the answer holds:
 *
 *   1. A adds x. Its process has found no record (lost, evicted), so it writes to no epoch, and is done.
 *   2. B, who has not heard of that, asks the epoch that it knows. Its shards may still be there, and
 *      have no x.
 *   3. But the record that B asks for beside it has no such epoch any more: maybe.
 *
 * As long as an epoch is listed in the record, every addition has gone into it before it was done.
 */
import type { EpochView } from './epoch-view.ts'
import type { Filter } from './filter.ts'

interface Turn {
  /** Id of the epoch in force. */
  readonly current: Promise<string>
  readonly givingUp: Set<() => void>
  cancel(): void
}

export class Asks {
  readonly #filter: Filter
  readonly #timeoutMs: number
  #turn: Turn | undefined
  #silentUntil = -Infinity

  constructor(filter: Filter, timeoutMs: number) {
    this.#filter = filter
    this.#timeoutMs = timeoutMs
  }

  /** Redis does not answer: no use to ask it now. */
  get isSilent(): boolean {
    return this.#filter.clock.now() < this.#silentUntil
  }

  /** Never rejects. */
  ask(view: EpochView, text: string): Promise<boolean> {
    const { keeper } = this.#filter
    const digest = view.digest(text)
    const shard = view.shardOf(digest)
    if (view.isLost(shard)) return maybe
    const before = view.countOf(shard)
    const { connection } = keeper
    const turn = (this.#turn ??= this.#begin())
    return new Promise((resolve) => {
      const giveUp = (): void => resolve(true)
      turn.givingUp.add(giveUp)
      const asked = this.#filter.shelfOf(view.epoch).ask(view, shard, digest)
      void Promise.allSettled([asked, turn.current]).then(([answer, current]) => {
        turn.givingUp.delete(giveUp)
        if (turn.givingUp.size === 0) turn.cancel()
        if (answer.status === 'rejected' || current.status === 'rejected') {
          this.#hush()
          return resolve(true)
        }
        const isCurrent = current.value === view.epoch.id
        if (answer.value === 'lost') view.lose(shard)
        else this.#filter.saw(view, { shard, count: answer.value.count, before })
        if (!isCurrent || answer.value === 'lost') keeper.poll()
        const holds = isCurrent && !view.isLost(shard) && keeper.connection === connection
        resolve(!holds || answer.value === 'lost' || answer.value.has)
      })
    })
  }

  /** Of what is due at the same time; `undefined`: it did not come in time. */
  async within<T>(promise: Promise<T>): Promise<T | undefined> {
    let cancel = (): void => {}
    const late = new Promise<undefined>((resolve) => {
      cancel = this.#filter.clock.after(this.#timeoutMs, () => {
        this.#hush()
        resolve(undefined)
      })
    })
    try {
      return await Promise.race([promise, late])
    } catch {
      this.#hush()
      return undefined
    } finally {
      cancel()
    }
  }

  #begin(): Turn {
    const { commands, recordKey, clock } = this.#filter
    queueMicrotask(() => (this.#turn = undefined))
    const givingUp = new Set<() => void>()
    const cancel = clock.after(this.#timeoutMs, () => {
      if (givingUp.size > 0) this.#hush()
      for (const giveUp of givingUp) giveUp()
    })
    const current = commands.keyed('HGET', recordKey, ['currentId']).then((id) => {
      return id === null ? '' : Buffer.from(id as Uint8Array).toString()
    })
    return { current, givingUp, cancel }
  }

  #hush(): void {
    const { clock, pace } = this.#filter
    this.#silentUntil = clock.now() + pace.silenceMs
  }
}

const maybe = Promise.resolve(true)
