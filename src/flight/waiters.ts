/**
 * Who in this process waits for a load elsewhere, and what wakes them: a message about their key,
 * or a timer. One listens first and asks then, so that no message falls between:
 *
 *   A asks, is told to wait for T;  T publishes;  A begins to listen: A would sleep until the lease ends.
 *
 * A pushed value or failure is taken only by one who was told its token; all other news mean "ask again".
 */
import type { BusMessage, Clock, Token } from '../ports.ts'

export type Wake =
  | { readonly type: 'value'; readonly frame: Uint8Array }
  | { readonly type: 'failed'; readonly error: string; readonly backoffMs: number }
  | { readonly type: 'again' }

const again: Wake = { type: 'again' }

export class Ear {
  readonly key: string
  readonly #onClose: (ear: Ear) => void
  /** News that came before it was known whose load to wait for. */
  #news: BusMessage[] = []
  #told: Token | undefined
  #wake: ((wake: Wake) => void) | undefined

  constructor(key: string, onClose: (ear: Ear) => void) {
    this.key = key
    this.#onClose = onClose
  }

  hear(message: BusMessage): void {
    if (this.#wake !== undefined) this.#wake(meaning(message, this.#told))
    else if (this.#news.length < 8) this.#news.push(message)
  }

  /** News so far were of the time before this question. */
  forget(): void {
    this.#news = []
  }

  /** Resolves at the next news, or after `ms`. */
  wait(told: Token, ms: number, clock: Clock): Promise<Wake> {
    for (const message of this.#news) {
      const wake = meaning(message, told)
      if (wake.type !== 'again') return Promise.resolve(wake)
    }
    if (this.#news.length > 0) return Promise.resolve(again)
    return new Promise((resolve) => {
      const stop = clock.after(ms, () => this.#wake?.(again))
      this.#told = told
      this.#wake = (wake) => {
        stop()
        this.#wake = undefined
        resolve(wake)
      }
    })
  }

  /** Whoever waits asks again (or sees that it should not), and takes nothing that is of before. */
  rouse(): void {
    this.#wake?.(again)
  }

  close(): void {
    this.#onClose(this)
  }
}

function meaning(message: BusMessage, told: Token | undefined): Wake {
  if (message.type === 'published' && message.token === told && message.frame !== undefined) {
    return { type: 'value', frame: message.frame }
  }
  if (message.type === 'failed' && message.token === told) {
    return { type: 'failed', error: message.error, backoffMs: message.backoffMs }
  }
  return again
}

export class Waiters {
  readonly #ears = new Map<string, Set<Ear>>()
  readonly #drop = (ear: Ear): void => {
    const ears = this.#ears.get(ear.key)
    ears?.delete(ear)
    if (ears?.size === 0) this.#ears.delete(ear.key)
  }

  listen(key: string): Ear {
    let ears = this.#ears.get(key)
    if (ears === undefined) this.#ears.set(key, (ears = new Set()))
    const ear = new Ear(key, this.#drop)
    ears.add(ear)
    return ear
  }

  hear(key: string, message: BusMessage): void {
    const ears = this.#ears.get(key)
    if (ears !== undefined) for (const ear of ears) ear.hear(message)
  }

  /** The key has changed: what was waited for until now is no longer wanted. */
  rouse(key: string): void {
    const ears = this.#ears.get(key)
    if (ears !== undefined) for (const ear of ears) ear.rouse()
  }

  /** After a gap in hearing anything may have happened. */
  rouseAll(): void {
    for (const ears of this.#ears.values()) for (const ear of ears) ear.rouse()
  }
}
