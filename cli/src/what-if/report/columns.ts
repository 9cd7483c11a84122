// What is shown of the figures, once for the terminal, the page and whoever reads them aloud: three
// small tables, since one wide one fits no terminal.

import type { Figures } from '../model/figures.ts'
import { countText, durationText, shareText } from './units.ts'

export interface Column {
  readonly title: string
  cell(figures: Figures): string
}

export interface Section {
  readonly title: string
  readonly explains: string
  readonly columns: readonly Column[]
  /** What the bars beside it show. */
  readonly bar: { readonly title: string; value(figures: Figures): number; text(n: number): string }
}

export const sections: readonly Section[] = [
  {
    title: 'At the source',
    explains:
      'An expiry is a time at which a value had to be loaded; one load would have done for each.',
    columns: [
      { title: 'loads per expiry', cell: (f) => countText(f.loadsPerExpiry) },
      { title: 'loads/s', cell: (f) => countText(f.loadsPerSecond) },
      { title: 'most at once', cell: (f) => countText(f.mostAtOnce) },
      { title: 'most queued', cell: (f) => countText(f.mostQueued) },
    ],
    bar: { title: 'Most loads at once', value: (f) => f.mostAtOnce, text: countText },
  },
  {
    title: 'For who asks',
    explains:
      'Time in cache and source. Who gives up counts with the time until then, and as failed.',
    columns: [
      { title: 'p50', cell: (f) => durationText(f.latency.p50) },
      { title: 'p95', cell: (f) => durationText(f.latency.p95) },
      { title: 'p99', cell: (f) => durationText(f.latency.p99) },
      { title: 'max', cell: (f) => durationText(f.latency.max) },
      { title: 'wait', cell: (f) => shareText(f.waitedShare) },
      { title: 'fail', cell: (f) => shareText(f.errorShare) },
    ],
    bar: { title: 'p99 of a request', value: (f) => f.latency.p99, text: durationText },
  },
  {
    title: 'What is served',
    explains:
      'Age: since the source was asked. Stale: past its ttl, and by how much. Outdated: from before a write, to who came after it.',
    columns: [
      { title: 'hits', cell: (f) => shareText(f.hitShare) },
      { title: 'age p50', cell: (f) => durationText(f.age.p50) },
      { title: 'age p95', cell: (f) => durationText(f.age.p95) },
      { title: 'age max', cell: (f) => durationText(f.age.max) },
      { title: 'stale', cell: (f) => shareText(f.staleShare) },
      { title: 'by p95', cell: (f) => durationText(f.staleBy.p95) },
      { title: 'outdated', cell: (f) => countText(f.outdated) },
    ],
    bar: { title: 'Loads per second', value: (f) => f.loadsPerSecond, text: countText },
  },
]
