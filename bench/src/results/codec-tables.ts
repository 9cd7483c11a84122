// The tables of docs/choosing-a-codec.md, from the kept results alone: medians, one line per payload.
// They stand between two comments each; the rest of that page is not touched.

import { grid, type Row, type Table } from '../measure/report.ts'
import { write, type Unit } from '../measure/units.ts'
import { algorithms, compressed, plainName } from '../codecs/plan.ts'
import { payloads } from '../codecs/payloads.ts'
import type { Kept } from './kept.ts'
import { writeMachine } from './results-page.ts'

const end = '<!-- /bench -->'
const own = ['json()', 'msgpack()', 'protobuf', 'v8()', 'encrypted(msgpack())'] as const

/** The page with its tables written anew. */
export function withCodecTables(page: string, all: ReadonlyMap<string, Kept>): string {
  const codecs = all.get('codecs')
  const big = all.get('big-values')
  const none = 'No results are kept.'
  const parts: Readonly<Record<string, string>> = {
    codecs: codecs ? codecPart(codecs) : none,
    compressions: codecs ? compressionPart(codecs) : none,
    'big values': big ? bigPart(big) : none,
  }
  let text = page
  for (const [name, part] of Object.entries(parts)) {
    const begin = `<!-- bench: ${name}, written by npm run bench -- --docs -->`
    const from = text.indexOf(begin)
    const to = text.indexOf(end, from)
    if (from < 0 || to < from) {
      throw new Error(`expected ${begin} and ${end} in docs/choosing-a-codec.md`)
    }
    text = `${text.slice(0, from)}${begin}\n${part}\n${text.slice(to)}`
  }
  return text
}

function codecPart(kept: Kept): string {
  const head = [plainName, ...own]
  const tableOf = (cell: (table: Table, row: Row) => string): string =>
    grid([
      ['', ...head],
      ...Object.entries(payloads).map(([id, { title }]) => {
        const table = kept.report.tables.find((it) => it.id === id)
        return [title, ...head.map((name) => (table ? of(table, name, cell) : '?'))]
      }),
    ])
  const bytes = tableOf((table, row) =>
    row.name === plainName
      ? figure(table, row, 'bytes', 'bytes')
      : `${figure(table, row, 'bytes', 'bytes')} (${whole(table, row, 'of JSON')} %)`,
  )
  const timed = (us: string, times: string) =>
    tableOf((table, row) =>
      row.name === plainName
        ? figure(table, row, us === 'frozen µs' ? 'decode µs' : us, 'us')
        : `${figure(table, row, us, 'us')} (${figure(table, row, times, 'ratio')}×)`,
    )
  return [
    "**Bytes**, without compression, and their share of JSON's:",
    bytes,
    '**To encode**, µs, and how quick that is beside JSON.stringify to a Buffer (2× takes half the time):',
    timed('encode µs', 'encode ×'),
    '**To decode and freeze**, as a hit does, µs, beside JSON.parse of a Buffer, which freezes nothing:',
    timed('frozen µs', 'frozen ×'),
    measured(kept),
  ].join('\n\n')
}

function compressionPart(kept: Kept): string {
  const rows = kept.report.tables
    .filter(({ id }) => id.endsWith(', compressed'))
    .flatMap((table) =>
      compressed.map((coding) => [
        `${table.title.replace(/ \(.*\)|, compressed$/g, '').replace(/, compressed$/, '')}, ${coding}`,
        of(table, `${coding}, none`, (_, row) => figure(table, row, 'bytes', 'bytes')),
        ...algorithms.map((algorithm) =>
          of(table, `${coding}, ${algorithm}`, (_, row) => {
            const [bytes, compress, decompress] = [
              figure(table, row, 'bytes', 'bytes'),
              figure(table, row, 'compress µs', 'us'),
              figure(table, row, 'decompress µs', 'us'),
            ]
            return `${bytes}; ${compress} + ${decompress}`
          }),
        ),
      ]),
    )
  const hasZstd = !kept.report.tables.some(({ rows: all }) =>
    all.some(({ name, problem }) => name.endsWith(', zstd') && problem !== undefined),
  )
  const without = hasZstd
    ? ''
    : ` Node.js ${kept.machine.node} has no zstd (22.15 has), so it could not be measured here.`
  return [
    grid([['', 'none', ...algorithms], ...rows]),
    `Bytes; µs to compress + to decompress.${without} ${measured(kept)}`,
  ].join('\n\n')
}

function bigPart(kept: Kept): string {
  const table = kept.report.tables.find(({ id }) => id === 'held')
  const bare = kept.report.tables.find(({ id }) => id === 'bare')
  if (table === undefined || bare === undefined) return 'No results are kept.'
  const worst = (it: Table, row: Row, column: string): string => {
    const found = row.figures[it.columns.findIndex(({ name }) => name === column)]
    return found ? `${write(found.median, 'ms')} (${write(found.max, 'ms')})` : '?'
  }
  const held = ['store', 'read', 'set'].map((step) => `${step}: held ms`)
  return [
    grid([
      ['', 'store', 'read', 'set', 'found by another process'],
      ...table.rows.map((row) => [
        row.name,
        ...held.map((column) => worst(table, row, column)),
        figure(table, row, 'stored', 'percent'),
      ]),
      ...bare.rows.map((row) => {
        const ms = worst(bare, row, 'held ms')
        const at = row.name.includes('GET') ? 1 : row.name.includes('SET') ? 2 : 0
        return [row.name, ...[0, 1, 2].map((n) => (n === at ? ms : '–')), '–']
      }),
    ]),
    `Longest that the event loop was held, ms: median of the rounds (and the worst). ${measured(kept)}`,
  ].join('\n\n')
}

/** `protobuf`: of whatever message type. */
function of(table: Table, name: string, cell: (table: Table, row: Row) => string): string {
  const row = table.rows.find((it) =>
    name === 'protobuf' ? it.name.startsWith('protobuf(') : it.name === name,
  )
  return row === undefined || row.problem !== undefined ? '–' : cell(table, row)
}

function figure(table: Table, row: Row, column: string, unit: Unit): string {
  const found = row.figures[table.columns.findIndex(({ name }) => name === column)]
  return found ? write(found.median, unit) : '–'
}

function whole(table: Table, row: Row, column: string): string {
  const found = row.figures[table.columns.findIndex(({ name }) => name === column)]
  return found ? found.median.toFixed(0) : '–'
}

function measured({ machine }: Kept): string {
  return `Medians, measured ${writeMachine(machine)}.`
}
