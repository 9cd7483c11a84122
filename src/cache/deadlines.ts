/**
 * One timer for all operations under way: they share one timeout, so the oldest is due first. What
 * has ended is unlinked at once: thousands a second must not live on until their deadlines pass.
 * A deadline that falls due is looked at again after the event loop has taken in what was ready:
 * a process that stalls must not mistake its own pause for the store's.
 */
import { longestTimerMs } from '../core/lifetime.ts'
import type { Clock } from '../ports.ts'

/** An operation under way; a link of the list from the oldest to the youngest. */
export class Pending {
  readonly sentAt: number
  /** Replies, and whatever else, that had come in until then. */
  readonly heard: number
  readonly received: number
  readonly onOverdue: (now: number) => void
  previous: Pending | undefined = undefined
  next: Pending | undefined = undefined
  isOpen = true

  constructor(sentAt: number, heard: number, received: number, onOverdue: (now: number) => void) {
    this.sentAt = sentAt
    this.heard = heard
    this.received = received
    this.onOverdue = onOverdue
  }
}

export class Deadlines {
  readonly #clock: Clock
  readonly #timeoutMs: number
  readonly #detached: <T>(run: () => T) => T
  #oldest: Pending | undefined
  #youngest: Pending | undefined
  #stop: (() => void) | undefined

  /** `detached`: the timer outlives the call that set it, and must not keep that call's context. */
  constructor(clock: Clock, timeoutMs: number, detached: <T>(run: () => T) => T) {
    this.#detached = detached
    this.#clock = clock
    this.#timeoutMs = timeoutMs
  }

  add(operation: Pending): void {
    operation.previous = this.#youngest
    if (this.#youngest === undefined) this.#oldest = operation
    else this.#youngest.next = operation
    this.#youngest = operation
    if (this.#stop === undefined) this.#detached(() => this.#arm(operation.sentAt))
  }

  /** True: it was still open, and is over now. */
  end(operation: Pending): boolean {
    if (!operation.isOpen) return false
    operation.isOpen = false
    const { previous, next } = operation
    if (previous === undefined) this.#oldest = next
    else previous.next = next
    if (next === undefined) this.#youngest = previous
    else next.previous = previous
    // A dead link in old space would keep all younger ones alive until a full collection.
    operation.previous = operation.next = undefined
    return true
  }

  /** All that is pending is given up now. */
  expireAll(now: number): void {
    this.#expire(Infinity, now)
  }

  close(): void {
    this.#stop?.()
    this.#stop = undefined
  }

  #arm(now: number): void {
    if (this.#oldest === undefined) {
      this.#stop = undefined
      return
    }
    const dueIn = Math.max(0, this.#oldest.sentAt + this.#timeoutMs - now)
    this.#stop = this.#clock.after(Math.min(dueIn, longestTimerMs), () => {
      const dueAt = this.#clock.now()
      this.#stop = this.#clock.after(0, () => {
        this.#expire(dueAt - this.#timeoutMs, dueAt)
        this.#arm(this.#clock.now())
      })
    })
  }

  #expire(sentUntil: number, now: number): void {
    for (let it = this.#oldest; it !== undefined && it.sentAt <= sentUntil; it = this.#oldest) {
      this.end(it)
      it.onOverdue(now)
    }
  }
}
