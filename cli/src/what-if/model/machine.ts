// What a world and its machines tell each other. A machine is one key under one strategy: it knows
// what is cached and who is at work, and plans what comes next.

/** One key under one strategy. */
export interface Machine {
  /** What is cached at the start; left out: nothing. */
  begin(cached: Cached | undefined): void
  /** Its data has changed, and it is invalidated. */
  write(): void
  /** Accounts for the time until the end. */
  settle(now: number): void
}

export interface Cached {
  /** When the source was asked for it. */
  readonly askedAt: number
  readonly freshUntil: number
  /** What its load took. */
  readonly tookMs: number
}

export interface Ended {
  /** `died`: its process did, and gave nothing back. */
  readonly how: 'value' | 'failed' | 'refused' | 'died'
  readonly count: number
  /** When it began at the source. */
  readonly askedAt: number
}

export interface Loading {
  readonly key: Key
  readonly count: number
  /** When those came who load: nobody comes after the end. */
  readonly cameAt: number
  /** Round trips before it begins. */
  readonly afterMs: number
  onEnd(ended: Ended): void
}

export interface Outcome {
  readonly endedAt: number
  /** So much was under way that nothing more was simulated. */
  readonly isMelted: boolean
  /** What the source had before it when the last request had come. */
  readonly backlogMs: number
}

/** What is known of a key besides what its strategy knows. */
export interface Key {
  /** Requests per millisecond. */
  readonly rate: number
  running: number
  /** A write came while something ran: the next load begins another expiry. */
  overtaken: boolean
}
