// The result as text, within 80 columns.

import { contenderNames, type ContenderId } from '../contenders/contender.ts'
import type { Latency } from '../run/figures.ts'
import { describe, type Result } from './result.ts'
import { paragraph, table } from './table.ts'
import { inSeconds, ratio, share } from './wording.ts'

export function terminalText(result: Result): string {
  const name = (id: string): string => contenderNames[id as ContenderId].title
  const times = ({ p50, p95, p99, max }: Latency): string[] => [p50, p95, p99, max].map(inSeconds)
  const all = result.contenders
  return [
    paragraph('', describe(result.setting)),
    'At the database',
    table(
      ['', 'queries', 'expiries', 'per expiry', 'at once', 'outdated', 'errors'],
      all.map((one) => [
        name(one.contender),
        String(one.queries),
        String(one.expiries),
        ratio(one.queriesPerExpiry),
        String(one.mostAtOnce),
        String(one.outdated),
        share(one.errors, one.hot.requests + one.unrelated.requests),
      ]),
    ),
    'Time to answer, hot endpoint (trending products)',
    table(
      latencyHead,
      all.map((one) => [name(one.contender), ...times(one.hot)]),
    ),
    'Time to answer, unrelated endpoint (a product page, not cached)',
    table(
      latencyHead,
      all.map((one) => [name(one.contender), ...times(one.unrelated)]),
    ),
    'What goes wrong, with breakwater',
    ...result.faults.map(({ name: title, expected, happened, outcome }) =>
      [
        `${outcome === 'as expected' ? '✓' : outcome === 'not run' ? '–' : '✗'} ${title}`,
        paragraph('    expected:', expected),
        paragraph('    happened:', happened),
      ].join('\n'),
    ),
    ...result.notes.map((note) => paragraph('Note:', note)),
    legend.map((line) => paragraph('', line)).join('\n'),
  ].join('\n\n')
}

const latencyHead = ['', 'p50', 'p95', 'p99', 'max']

export const legend = [
  'An expiry is a time at which the value had to be queried for, after the write included. ' +
    'At once: the most queries running together; a write in mid-query needs a second beside the first.',
  'Outdated: answers from before the write to callers who came after it.',
  'Latency counts from the intended arrival; a request that was given up counts with the time until then.',
]
