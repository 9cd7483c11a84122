/** The event stream. An event is made only while it has a listener; a listener that throws harms nobody. */
import type { CacheEvents } from '../core/events.ts'
import { channels } from './channels.ts'

type Listener = (event: never) => unknown

// Every hit looks at it: not by its name among all others.
const { answer: answers } = channels

export class Listeners {
  readonly #namespace: string
  readonly #byEvent = new Map<keyof CacheEvents, Set<Listener>>()
  #hasAnswer = false

  constructor(namespace: string) {
    this.#namespace = namespace
  }

  /** Read on every hit: two plain properties. */
  get answer(): boolean {
    return this.#hasAnswer || answers.hasSubscribers
  }

  get joined(): boolean {
    return this.#has('joined') || channels.joined.hasSubscribers
  }

  on<E extends keyof CacheEvents>(event: E, listener: (event: CacheEvents[E]) => void): () => void {
    let listeners = this.#byEvent.get(event)
    if (listeners === undefined) this.#byEvent.set(event, (listeners = new Set()))
    // One set entry per call: the same function registered twice is told twice, and removed singly.
    const own: Listener = (told) => listener(told)
    listeners.add(own)
    this.#hasAnswer = this.#has('answer')
    return () => {
      listeners.delete(own)
      this.#hasAnswer = this.#has('answer')
    }
  }

  tell<E extends keyof CacheEvents>(event: E, make: () => CacheEvents[E]): void {
    const channel = channels[event]
    if (!this.#has(event) && !channel.hasSubscribers) return
    const told = make()
    const listeners = this.#byEvent.get(event)
    // Those of now: one that listens anew whenever it was told would be told without an end.
    for (const listener of Array.from(listeners ?? [])) {
      if (!listeners!.has(listener)) continue
      try {
        const result: unknown = listener(told as never)
        if (result instanceof Promise) result.catch(() => {})
      } catch {
        // A reporter's fault must not become a reader's: there is nobody to tell it to.
      }
    }
    // What a subscriber throws, Node tells the process, in a turn of its own.
    if (channel.hasSubscribers) channel.publish({ namespace: this.#namespace, ...told })
  }

  clear(): void {
    this.#byEvent.clear()
    this.#hasAnswer = false
  }

  #has(event: keyof CacheEvents): boolean {
    return (this.#byEvent.get(event)?.size ?? 0) > 0
  }
}
