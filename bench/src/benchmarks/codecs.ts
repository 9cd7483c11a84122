// What codecs and compressions cost: bytes, and time beside JSON.stringify and JSON.parse that ran in
// turn with them in the same process. One process per payload, so that no code is compiled for the
// shapes of another.

import { ask } from '../child/ask.ts'
import { payloads, type PayloadName } from '../codecs/payloads.ts'
import { algorithms, compressed, plainName, plainTextName, sideName } from '../codecs/plan.ts'
import type { CodecPlan, CodecResult, Operation } from '../codecs/plan.ts'
import type { Budget, Column, Report, Row, Setting, Table } from '../measure/report.ts'
import { spread, type Spread } from '../measure/statistics.ts'
import { writeSpread } from '../measure/units.ts'

const file = new URL('../codecs/worker.js', import.meta.url)
const names = Object.keys(payloads) as PayloadName[]
const packedNames: readonly PayloadName[] = ['page', 'list', 'texts', 'series', 'mixed', 'config']
const mostShare = 0.6

type Results = readonly CodecResult[]

export async function codecs({ quick, runs = quick ? 1 : 3, say }: Setting): Promise<Report> {
  const effort = quick
    ? { rounds: 7, warmUpMs: 60, batchMs: 4 }
    : { rounds: 15, warmUpMs: 150, batchMs: 6 }
  const measure = async (what: CodecPlan['what'], all: readonly PayloadName[]) => {
    const found = new Map<PayloadName, CodecResult[]>(all.map((name) => [name, []]))
    for (let run = 0; run < runs; run += 1) {
      say(`${what}, run ${run + 1} of ${runs}`)
      for (const payload of all) {
        const plan: CodecPlan = { payload, what, effort }
        found.get(payload)?.push(await ask<CodecResult>({ file, plan, limitMs: 120_000 }))
      }
    }
    return found
  }
  const coded = await measure('codecs', names)
  const packed = await measure('compressions', packedNames)
  return {
    tables: [
      ...[...coded].map(([name, results]) => codecTable(name, results)),
      ...[...packed].map(([name, results]) => packTable(name, results)),
    ],
    budgets: budgetsOf(coded.get('page') ?? []),
    notes: [
      '× is a ratio to JSON in the same round: 1 is as quick, 2 takes half the time. "Frozen" is what a hit with the default `values` does: decode and freeze. In the tables of compressions, "hit" is decompress and decode beside decode alone.',
    ],
  }
}

const codecColumns: readonly Column[] = [
  { name: 'bytes', unit: 'bytes', brief: true },
  { name: 'of JSON', unit: 'percent', brief: true },
  { name: 'encode µs', unit: 'us', brief: true },
  { name: 'encode ×', unit: 'ratio' },
  { name: 'decode µs', unit: 'us', brief: true },
  { name: 'decode ×', unit: 'ratio' },
  { name: 'frozen µs', unit: 'us', brief: true },
  { name: 'frozen ×', unit: 'ratio' },
]

function codecTable(name: PayloadName, results: Results): Table {
  const [first] = results
  const bytes = first?.bytes ?? {}
  const problems = first?.problems ?? {}
  const base = { encode: plainSide('encode'), decode: plainSide('decode') }
  const rowOf = (coding: string): Row => {
    const took = (operation: Operation) => tookUs(results, sideName(coding, operation))
    const times = (operation: Operation, of: string) =>
      ratio(results, of, [sideName(coding, operation)])
    return {
      name: coding,
      figures: [
        exact(bytes[coding]),
        exact(share(bytes[coding], bytes[plainName])),
        took('encode'),
        times('encode', base.encode),
        took('decode'),
        times('decode', base.decode),
        took('frozen'),
        times('frozen', base.decode),
      ],
    }
  }
  const failed = Object.entries(problems).map(([it, problem]) => ({
    name: it,
    figures: [],
    problem,
  }))
  return {
    id: name,
    title: payloads[name].title,
    columns: codecColumns,
    rows: [...Object.keys(bytes).map(rowOf), ...failed],
  }
}

const packColumns: readonly Column[] = [
  { name: 'bytes', unit: 'bytes', brief: true },
  { name: 'of its codec', unit: 'percent', brief: true },
  { name: 'of json()', unit: 'percent', brief: true },
  { name: 'compress µs', unit: 'us', brief: true },
  { name: 'decompress µs', unit: 'us', brief: true },
  { name: 'hit ×', unit: 'ratio' },
]

function packTable(name: PayloadName, results: Results): Table {
  const [first] = results
  const bytes = first?.bytes ?? {}
  const rows = compressed.flatMap((coding) => {
    const none: Row = {
      name: `${coding}, none`,
      figures: [
        exact(bytes[coding]),
        exact(100),
        exact(share(bytes[coding], bytes['json()'])),
        null,
        null,
        exact(1),
      ],
    }
    const others = algorithms.map((algorithm): Row => {
      const it = `${coding}, ${algorithm}`
      const problem = first?.problems[it]
      if (problem !== undefined) {
        const why = algorithm === 'zstd' ? `not in Node.js ${process.version.slice(1)}` : problem
        return { name: it, figures: [], problem: why }
      }
      const decode = sideName(coding, 'frozen')
      return {
        name: it,
        figures: [
          exact(bytes[it]),
          exact(share(bytes[it], bytes[coding])),
          exact(share(bytes[it], bytes['json()'])),
          tookUs(results, sideName(it, 'compress')),
          tookUs(results, sideName(it, 'decompress')),
          ratio(results, decode, [decode, sideName(it, 'decompress')]),
        ],
      }
    })
    return [none, ...others]
  })
  return {
    id: `${name}, compressed`,
    title: `${payloads[name].title}, compressed`,
    columns: packColumns,
    rows,
  }
}

function plainSide(operation: Operation): string {
  return sideName(plainName, operation)
}

/** How quick some sides, one after the other, are beside `base`, round by round. */
function ratio(results: Results, base: string, sides: readonly string[]): Spread | null {
  const ratios = results.flatMap(({ timings }) =>
    (timings[base]?.wallUs ?? []).map((took, round) => {
      const all = sides.map((side) => timings[side]?.wallUs[round] ?? Number.NaN)
      return took / all.reduce((sum, us) => sum + us, 0)
    }),
  )
  const finite = ratios.filter(Number.isFinite)
  return finite.length === 0 ? null : spread(finite)
}

function tookUs(results: Results, side: string): Spread | null {
  const all = results.flatMap(({ timings }) => timings[side]?.wallUs ?? [])
  return all.length === 0 ? null : spread(all)
}

function share(bytes: number | undefined, of: number | undefined): number | undefined {
  return bytes === undefined || of === undefined ? undefined : (bytes / of) * 100
}

function exact(value: number | undefined): Spread | null {
  return value === undefined ? null : { median: value, min: value, max: value }
}

/** What the page about codecs promises of the default one. */
function budgetsOf(results: Results): Budget[] {
  const coding = 'msgpack()'
  const { bytes = {} } = results[0] ?? {}
  const percent = share(bytes[coding], bytes[plainName]) ?? Number.NaN
  const what = 'a page of 20 products, MessagePack'
  const quick = (operation: Operation, base: string, beside: string): Budget => {
    const measured = ratio(results, base, [sideName(coding, operation)])
    return {
      what: `${what}, ${operation === 'frozen' ? 'decode and freeze, as a hit does' : 'decode'}`,
      budget: `at least as quick as ${beside}`,
      measured: measured ? writeSpread(measured, 'ratio') : 'nothing',
      met: measured !== null && measured.median >= 1,
      must: true,
    }
  }
  return [
    {
      what: `${what}, bytes`,
      budget: `≤ ${mostShare * 100} % of JSON's`,
      measured: `${percent.toFixed(1)} %`,
      met: percent <= mostShare * 100,
      must: true,
    },
    quick('decode', plainSide('decode'), 'JSON.parse of the bytes'),
    quick('frozen', plainSide('decode'), 'JSON.parse of the bytes'),
    { ...quick('decode', sideName(plainTextName, 'decode'), plainTextName), must: false },
    { ...quick('frozen', sideName(plainTextName, 'decode'), plainTextName), must: false },
  ]
}
