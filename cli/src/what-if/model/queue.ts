// Places with a queue before them: the fleet's connections to the source, and breakwater's limit on
// loads at once and per second. Who has waited for longer than the deadline is refused. The processes'
// places are taken together, as if a load could use any of them.

import type { Agenda } from './agenda.ts'

export interface QueueRules {
  readonly places: number
  readonly deadlineMs: number
  readonly perSecond: number
}

export interface Entering {
  readonly now: number
  readonly count: number
  /** So many of them may go; told again until all have. */
  go(count: number, now: number): void
  refuse(count: number, now: number): void
}

interface Waiting extends Entering {
  left: number
}

export class Queue {
  readonly #agenda: Agenda
  readonly #rules: QueueRules
  readonly #waiting: Waiting[] = []
  #first = 0
  #taken = 0
  #most = 0
  #length = 0
  #tokens: number
  #countedAt = 0
  #wakesAt = Infinity

  constructor(agenda: Agenda, rules: QueueRules) {
    this.#agenda = agenda
    this.#rules = rules
    this.#tokens = Math.max(1, rules.perSecond)
  }

  get length(): number {
    return this.#length
  }

  get most(): number {
    return this.#most
  }

  enter(entering: Entering): void {
    const waiting = { ...entering, left: entering.count }
    this.#waiting.push(waiting)
    this.#length += entering.count
    this.#let(entering.now)
    this.#most = Math.max(this.#most, this.#length)
    if (waiting.left === 0 || this.#rules.deadlineMs === Infinity) return
    const until = entering.now + this.#rules.deadlineMs
    this.#agenda.at(until, () => {
      if (waiting.left === 0) return
      const { left } = waiting
      this.#length -= left
      waiting.left = 0 // it goes when its turn comes
      waiting.refuse(left, until)
    })
  }

  leave(now: number, count: number): void {
    this.#taken -= count
    this.#let(now)
  }

  #let(now: number): void {
    const { places, perSecond } = this.#rules
    const most = Math.max(1, perSecond)
    this.#tokens =
      perSecond === Infinity
        ? Infinity
        : Math.min(most, this.#tokens + ((now - this.#countedAt) * perSecond) / 1000)
    this.#countedAt = now
    for (let next = this.#waiting[this.#first]; next !== undefined;) {
      const room = Math.min(places - this.#taken, Math.floor(this.#tokens + 1e-9))
      const count = Math.min(next.left, room)
      if (count <= 0 && next.left > 0) break
      this.#taken += count
      this.#tokens -= count
      this.#length -= count
      next.left -= count
      if (count > 0) next.go(count, now)
      if (next.left === 0) next = this.#waiting[++this.#first]
    }
    if (this.#first > 1000 && this.#first * 2 > this.#waiting.length) {
      this.#waiting.splice(0, this.#first)
      this.#first = 0
    }
    this.#wakeAtToken(now)
  }

  #wakeAtToken(now: number): void {
    const { places, perSecond } = this.#rules
    if (this.#length === 0 || this.#taken >= places || this.#wakesAt !== Infinity) return
    const at = now + (Math.max(0, 1 - this.#tokens) * 1000) / perSecond + 1e-6
    this.#wakesAt = at
    this.#agenda.at(at, () => {
      this.#wakesAt = Infinity
      this.#let(at)
    })
  }
}
