/**
 * Chance that is the same for the same seed and name. Every part of the imagined world has a stream
 * of its own, so that leaving a step out changes as little as possible of all else.
 */
export class Random {
  #state: number

  constructor(seed: number, name = '') {
    let hash = (0x811c9dc5 ^ seed) >>> 0
    for (let i = 0; i < name.length; i++) hash = Math.imul(hash ^ name.charCodeAt(i), 0x01000193)
    this.#state = hash >>> 0
    // Neighbouring seeds differ in few bits: the first draws would, too.
    this.next()
    this.next()
  }

  /** 0 ≤ r < 1 (splitmix32). */
  next(): number {
    this.#state = (this.#state + 0x9e3779b9) >>> 0
    let z = this.#state
    z = Math.imul(z ^ (z >>> 16), 0x21f0aaad)
    z = Math.imul(z ^ (z >>> 15), 0x735a2d97)
    return ((z ^ (z >>> 15)) >>> 0) / 0x1_0000_0000
  }

  below(n: number): number {
    return Math.floor(this.next() * n)
  }

  between(least: number, most: number): number {
    return least + this.next() * (most - least)
  }

  chance(share: number): boolean {
    return this.next() < share
  }

  pick<T>(list: readonly T[]): T {
    return list[this.below(list.length)]!
  }

  /** One of the names, as often as its weight says. */
  weighted<Name extends string>(weights: Readonly<Record<Name, number>>): Name {
    const names = Object.keys(weights) as Name[]
    let left = this.next() * names.reduce((sum, name) => sum + weights[name], 0)
    for (const name of names) {
      left -= weights[name]
      if (left < 0) return name
    }
    return names.at(-1)!
  }
}
