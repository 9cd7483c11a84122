/** What a metric is, and the few ways in which one is read off a snapshot. */
import type { Counters } from '../core/events.ts'
import type { Snapshot } from './watch.ts'

/** All labels have closed sets of values: names of definitions, and words of ours. Never a key. */
export type Labels = Readonly<Record<string, string>>

export interface Metric {
  /** Without the prefix, as Prometheus has it. */
  readonly name: string
  /** Without the prefix, as OpenTelemetry has it, and its unit (UCUM). */
  readonly otel: string
  readonly unit: string
  readonly help: string
  readonly type: 'counter' | 'gauge'
  /** Of several processes that are scraped as one (prom-client's AggregatorRegistry); default: the sum. */
  readonly merge?: 'min' | 'max'
  /** Beside `namespace`. */
  readonly labels: readonly string[]
  /** Adds each combination of labels once. */
  read(from: Snapshot, add: (labels: Labels, value: number) => void): void
}

type Named = Omit<Metric, 'type' | 'labels' | 'read'>
type Count = keyof Counters | ((counters: Readonly<Counters>) => number)

function count(of: Count, counters: Readonly<Counters>): number {
  return typeof of === 'string' ? counters[of] : of(counters)
}

/** One series per definition. */
export function each(named: Named, of: Count): Metric {
  return {
    ...named,
    type: 'counter',
    labels: ['name'],
    read: ({ counters }, add) => {
      for (const [name, own] of counters) add({ name }, count(of, own))
    },
  }
}

/**
 * One series per definition and row; a row is named by the words of its labels, in their order. One
 * with a `?` is of what many definitions never do: it is there once it has happened, since a scrape
 * costs by its lines.
 */
export function split(
  named: Named,
  labels: readonly string[],
  rows: Readonly<Record<string, Count>>,
): Metric {
  const all = Object.entries(rows).map(([words, of]) => {
    const isRare = words.endsWith('?')
    const word = words.replace('?', '').split(' ')
    return { isRare, own: Object.fromEntries(labels.map((label, n) => [label, word[n]!])), of }
  })
  return {
    ...named,
    type: 'counter',
    labels: ['name', ...labels],
    read: ({ counters }, add) => {
      for (const [name, own] of counters) {
        for (const row of all) {
          const value = count(row.of, own)
          if (value > 0 || !row.isRare) add({ name, ...row.own }, value)
        }
      }
    },
  }
}

/** Of the cache as a whole; `undefined`: it has none of that. */
export function whole(
  named: Named & Pick<Metric, 'type' | 'merge'>,
  valueOf: (from: Snapshot) => number | undefined,
): Metric {
  return {
    ...named,
    labels: [],
    read(from, add) {
      const value = valueOf(from)
      if (value !== undefined) add({}, value)
    },
  }
}

/** One series per capture of a database's changes. */
export function ofCaptures(
  named: Named & Pick<Metric, 'type'>,
  valueOf: (capture: Snapshot['health']['changes'][number]) => number,
): Metric {
  return {
    ...named,
    labels: ['capture'],
    read: ({ health }, add) => {
      for (const capture of health.changes) add({ capture: capture.name }, valueOf(capture))
    },
  }
}
