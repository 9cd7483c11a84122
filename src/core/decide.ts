/**
 * What a read does with the entry it found, and with the answer of whoever may be loading already.
 * The two tables of the design; everything here is a function of its arguments.
 */

/** An entry's instants, on the reader's own clock. */
export interface Instants {
  readonly freshUntil: number
  /** At or after this and before `freshUntil`: refresh early. */
  readonly refreshAt: number
  readonly staleWhileRevalidateMs: number
  readonly staleIfErrorMs: number
}

export interface Windows {
  readonly staleWhileRevalidateMs: number
  readonly staleIfErrorMs: number
}

/** `serve`: as fresh. `early`, `stale`: serve, and refresh in the background. `load`: not servable before a load was tried. */
export type Decision = 'serve' | 'early' | 'stale' | 'load'

/** A reader applies the smaller of the entry's windows and its own. */
export function decide(entry: Instants | undefined, now: number, own: Windows): Decision {
  if (entry === undefined) return 'load'
  if (now < entry.freshUntil) return now < entry.refreshAt ? 'serve' : 'early'
  const window = Math.min(entry.staleWhileRevalidateMs, own.staleWhileRevalidateMs)
  return now < entry.freshUntil + window ? 'stale' : 'load'
}

/** May this entry be served when a load has failed, or takes too long? */
export function mayCover(entry: Instants | undefined, now: number, own: Windows): boolean {
  if (entry === undefined) return false
  const window = Math.max(
    Math.min(entry.staleWhileRevalidateMs, own.staleWhileRevalidateMs),
    Math.min(entry.staleIfErrorMs, own.staleIfErrorMs),
  )
  return now < entry.freshUntil + window
}
