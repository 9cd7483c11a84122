/** The kinds of entries that the imagined processes have, and how their loaders behave. */
import type { EntryOptions } from '../api.ts'
import type { Value } from './source.ts'

export interface Shape {
  readonly options: EntryOptions<string, Value>
  /** By the value, or one for all. */
  readonly tagged?: 'each' | 'all'
  /** Loads many at once where it can. */
  readonly isBatched?: boolean
  /** Loads last this long at most, most of them far less. */
  readonly slowestMs: number
  /** Share of loads that fail, in whatever way. */
  readonly failing: number
  /** The longest that a value may be served as fresh, and at all. */
  readonly ttlMs: number
  readonly windowMs: number
}

export type ShapeName = keyof typeof shapes
export type { Shape as AnyShape }

const shape = (
  ttlMs: number,
  windows: { readonly swr?: number; readonly sie?: number },
  rest: Partial<Shape> = {},
): Shape => {
  const { swr = 0, sie = 0 } = windows
  const { options, ...other } = rest
  return {
    slowestMs: 400,
    failing: 0.06,
    ttlMs,
    windowMs: Math.max(swr, sie),
    ...other,
    options: { ttl: ttlMs, staleWhileRevalidate: swr, staleIfError: sie, ...options },
  }
}

export const shapes = {
  plain: shape(5_000, {}),
  /** Fresh for longer than a process may be deaf without knowing. */
  lasting: shape(60_000, {}),
  windows: shape(1_500, { swr: 2_000, sie: 20_000 }, { options: { softTimeout: 50 } }),
  tagged: shape(20_000, { sie: 5_000 }, { tagged: 'all' }),
  /** Loads that outlast their lease many times. */
  shortLease: shape(2_000, { swr: 3_000 }, { options: { lease: 150 }, slowestMs: 3_000 }),
  bare: shape(2_000, { swr: 1_000 }, { options: { memory: false } }),
  copies: shape(12_000, { sie: 10_000 }, { options: { values: 'clone' }, tagged: 'each' }),
  negative: shape(
    4_000,
    { swr: 2_000 },
    { options: { negativeTtl: 1_000, isNegative: (value) => value.gone === true } },
  ),
  failing: shape(
    1_000,
    { sie: 6_000 },
    { options: { errorTtl: 1_500, errorBackoff: 500 }, failing: 0.5 },
  ),
  local: shape(1_500, { swr: 1_000 }, { options: { store: false } }),
  batched: shape(3_000, { swr: 1_000 }, { isBatched: true }),
  slow: shape(6_000, { swr: 6_000 }, { slowestMs: 4_500 }),
} as const satisfies Record<string, Shape>

/** One of these is in every history: what they hold, only a change or deafness ends. */
export const lastingNames = ['lasting', 'tagged', 'copies'] as const satisfies readonly ShapeName[]
export const shapeNames = Object.keys(shapes) as readonly ShapeName[]
