/**
 * The roll call: every process of the namespace is asked over the bus, and tells of itself on a
 * channel of this asking alone. What comes from there may come from anyone, so it is checked.
 */
import type { BusMessage, StoreSession } from '../ports.ts'
import type { ProcessSeen } from './seen.ts'

/** More than any fleet: what is heard is kept until the end of the asking. */
const most = 20_000
const longestText = 256 * 1024
/** Of one asking, in characters: whoever can publish could fill our memory otherwise. */
const mostText = 128 * 1024 * 1024

export class Roll {
  #told = new Map<string, ProcessSeen>()
  #heard = 0
  #isUp = false
  #onUp: (() => void) | undefined

  onBus(state: 'up' | 'down'): void {
    this.#isUp = state === 'up'
    if (this.#isUp) this.#onUp?.()
  }

  hear(message: BusMessage): void {
    if (message.type !== 'present' || this.#told.size >= most) return
    this.#heard += message.text.length
    if (this.#heard > mostText) return
    const told = readTold(message.text)
    // Of whom it says it is, and not of somebody else.
    if (told !== undefined && told.id === message.id) this.#told.set(told.id, told)
  }

  async call(session: StoreSession, ms: number): Promise<readonly ProcessSeen[]> {
    if (session.rollCall === undefined || !session.hasBus) return []
    this.#told = new Map()
    this.#heard = 0
    const told = this.#told
    if (!this.#isUp) await new Promise<void>((resolve) => this.#within(ms, resolve))
    await session.rollCall()
    await new Promise<void>((resolve) => setTimeout(resolve, ms))
    return [...told.values()].toSorted((a, b) => (a.id < b.id ? -1 : 1))
  }

  /** Who is asked before we hear would not be heard. */
  #within(ms: number, done: () => void): void {
    const timer = setTimeout(done, ms)
    this.#onUp = () => {
      clearTimeout(timer)
      this.#onUp = undefined
      done()
    }
  }
}

function readTold(text: string): ProcessSeen | undefined {
  if (text.length > longestText) return undefined
  try {
    const told = JSON.parse(text) as ProcessSeen
    return isTold(told) ? told : undefined
  } catch {
    return undefined
  }
}

function isTold(told: ProcessSeen): boolean {
  const { id, pid, host, uptimeMs, status, store, bus, loads, definitions, left } = told
  const counts = [pid, uptimeMs, left, loads.running, loads.queued, loads.limit, loads.abandoned]
  return (
    counts.every(Number.isFinite) &&
    [id, host, status, store, bus].every((one) => typeof one === 'string') &&
    Object.values(definitions).every((one) => Object.values(one).every(Number.isFinite))
  )
}
