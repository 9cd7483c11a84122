/**
 * One timer for all operations under way: they share one timeout, so the oldest is due first.
 * A deadline that falls due is looked at again after the event loop has taken in what was ready:
 * a process that stalls must not mistake its own pause for the store's.
 */
import { longestTimerMs } from '../core/lifetime.ts'
import type { Clock } from '../ports.ts'

export interface Pending {
  readonly sentAt: number
  /** Told when it is overdue; cleared when it has ended. */
  expire: ((now: number) => void) | undefined
}

export class Deadlines {
  readonly #clock: Clock
  readonly #timeoutMs: number
  readonly #detached: <T>(run: () => T) => T
  #pending: Pending[] = []
  #first = 0
  #stop: (() => void) | undefined

  /** `detached`: the timer outlives the call that set it, and must not keep that call's context. */
  constructor(clock: Clock, timeoutMs: number, detached: <T>(run: () => T) => T) {
    this.#detached = detached
    this.#clock = clock
    this.#timeoutMs = timeoutMs
  }

  add(operation: Pending): void {
    this.#pending.push(operation)
    if (this.#stop === undefined) this.#detached(() => this.#arm(operation.sentAt))
  }

  /** Lets everything pending end now. */
  expireAll(now: number): void {
    const pending = this.#pending.slice(this.#first)
    this.#pending = []
    this.#first = 0
    for (const operation of pending) operation.expire?.(now)
  }

  close(): void {
    this.#stop?.()
    this.#stop = undefined
  }

  #arm(now: number): void {
    while (this.#first < this.#pending.length && this.#pending[this.#first]!.expire === undefined) {
      this.#first++
    }
    const oldest = this.#pending[this.#first]
    if (oldest === undefined) {
      this.#pending = []
      this.#first = 0
      this.#stop = undefined
      return
    }
    const dueIn = Math.max(0, oldest.sentAt + this.#timeoutMs - now)
    this.#stop = this.#clock.after(Math.min(dueIn, longestTimerMs), () => {
      const dueAt = this.#clock.now()
      this.#stop = this.#clock.after(0, () => this.#sweep(dueAt))
    })
  }

  #sweep(dueAt: number): void {
    while (this.#first < this.#pending.length) {
      const operation = this.#pending[this.#first]!
      if (operation.expire !== undefined && operation.sentAt + this.#timeoutMs > dueAt) break
      this.#first++
      operation.expire?.(dueAt)
    }
    this.#pending = this.#pending.slice(this.#first)
    this.#first = 0
    this.#arm(this.#clock.now())
  }
}
