/**
 * What is kept of one answer of Next.js, and what Next.js is told of its age. The cache decides what
 * is fresh, for all instances alike; Next.js decides by the instants that it is given, so these are
 * bent until both agree. No clock of its own: `now` is passed in, ms since 1970.
 */

export interface Kept {
  readonly value: unknown
  /** When it was made, ms since 1970 by the host that made it. */
  readonly at: number
  /** Seconds after which it is to be made anew; `false`: when a tag says so. */
  readonly revalidate: number | false
  /** Seconds after which it is not to be served at all. */
  readonly expire: number | undefined
  readonly tags: readonly string[]
}

/** How long it is fresh, never more than `mostMs`. */
export function freshMs({ revalidate, expire }: Kept, mostMs: number): number {
  const seconds = Math.min(revalidate === false ? Infinity : revalidate, expire ?? Infinity)
  return Math.max(1, Math.min(Math.ceil(seconds * 1_000), mostMs))
}

export function isUsable({ at, expire }: Kept, now: number): boolean {
  return expire === undefined || now < at + expire * 1_000
}

/** Is it to be made anew, by its time? */
export function isOver({ at, revalidate }: Kept, now: number): boolean {
  return revalidate !== false && now >= at + revalidate * 1_000
}

/**
 * `fresh`: to be served as it is. `covered`: so is this, while another instance makes it anew.
 * `stale`: to be served, and this instance makes it anew.
 */
export type Standing = 'fresh' | 'covered' | 'stale'

export interface Ageing {
  /** `-1`: stale, whatever the lifetime. */
  readonly lastModified: number
  readonly revalidate: number | false
}

export interface Asker {
  readonly now: number
  /** A page: Next.js may know of another lifetime of it than we say, or of none (then it takes a second). */
  readonly isPage: boolean
  /** Of `fetch`: its own `revalidate`. */
  readonly asked: number | undefined
  /** Next.js takes the lifetime that it is told: from 16.4 on. */
  readonly takesLifetime: boolean
}

/** The instants by which Next.js finds it as it stands. */
export function ageing(kept: Kept, standing: Standing, asker: Asker): Ageing {
  const { at, revalidate } = kept
  const { now, isPage, asked, takesLifetime } = asker
  switch (standing) {
    case 'fresh':
      return { lastModified: isPage || isOver(kept, now) ? now : at, revalidate }
    case 'covered':
      // Whoever keeps it in front of us shall soon ask again.
      return { lastModified: now, revalidate: revalidate === false ? 1 : Math.min(revalidate, 1) }
    case 'stale': {
      // Stale by a tag alone: a lifetime that has passed says so, as it must be one.
      if (revalidate === false && !takesLifetime) return { lastModified: -1, revalidate }
      const told = revalidate === false ? 1 : revalidate
      const older = now - (asked ?? told) * 1_000 - 1_000
      return { lastModified: Math.min(at, older), revalidate: told }
    }
  }
}
