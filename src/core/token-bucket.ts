/**
 * How many may begin now at so many per second: a bucket that is refilled steadily and holds a tenth
 * of a second's worth, so that no second sees more than a tenth over the rate. The script `tokens.lua`
 * counts the same for a fleet. No clock of its own: instants in ms are passed in.
 */
export interface Tokens {
  readonly granted: number
  /** Until one more can be had; 0 when all were granted. */
  readonly waitMs: number
}

export function burstOf(perSecond: number): number {
  return Math.max(1, Math.ceil(perSecond / 10))
}

export class TokenBucket {
  readonly #perSecond: number
  readonly #burst: number
  #tokens: number
  #at: number | undefined

  constructor(perSecond: number) {
    this.#perSecond = perSecond
    this.#burst = burstOf(perSecond)
    this.#tokens = this.#burst
  }

  take(wanted: number, now: number): Tokens {
    const perMs = this.#perSecond / 1_000
    const refilled = this.#tokens + Math.max(0, now - (this.#at ?? now)) * perMs
    this.#tokens = Math.min(this.#burst, refilled)
    this.#at = now
    const granted = Math.min(wanted, Math.floor(this.#tokens))
    this.#tokens -= granted
    const waitMs = granted === wanted ? 0 : Math.ceil((1 - this.#tokens) / perMs)
    return { granted, waitMs }
  }
}
