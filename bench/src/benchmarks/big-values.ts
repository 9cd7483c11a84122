// Big values on default options but `maxBytes`: how long a process is held by storing one, reading it
// and setting it, each in a fresh process, beside what the bare client and the memory alone cost.

import { startRedisServer } from '@breakwater/rig'
import { ask } from '../child/ask.ts'
import { bigClients, bigKinds } from '../big/plan.ts'
import type { BigClient, BigKind, BigPlan, BigResult, BigStep } from '../big/plan.ts'
import { inOneLine, type Budget, type Report, type Row, type Setting } from '../measure/report.ts'
import { spread, type Spread } from '../measure/statistics.ts'
import { writeSpread } from '../measure/units.ts'

const file = new URL('../big/worker.js', import.meta.url)
const steps = ['store', 'read', 'set'] as const
const mostMs: Readonly<Record<BigKind, number>> = { buffer: 20, pages: 100 }
const titles: Readonly<Record<BigKind, string>> = {
  buffer: 'a random Buffer of 10 MB',
  pages: '3,800 pages of 20 products',
}
/** From here on an event is due. */
const toldMs = 10

interface Found {
  readonly client: BigClient
  readonly kind: BigKind
  readonly by: Readonly<Record<(typeof steps)[number], BigResult[]>>
  /** Whether the look-up by the other process found it in the store. */
  readonly isStored: boolean[]
}

interface Bare {
  readonly name: string
  readonly results: BigResult[]
}

export async function bigValues({ quick, runs = quick ? 1 : 5, say }: Setting): Promise<Report> {
  const all: Found[] = bigClients.flatMap((client) =>
    bigKinds.map((kind) => ({
      client,
      kind,
      by: { store: [], read: [], set: [] },
      isStored: [],
    })),
  )
  const touch: Bare = { name: 'memory: 10 MB that were never touched, filled', results: [] }
  const bares = new Map<string, Bare>([['touch', touch]])
  const server = await startRedisServer()
  try {
    for (let round = 0; round < runs; round += 1) {
      say(`round ${round + 1} of ${runs}`)
      for (const found of all) await bigRound(found, server.url, round)
      for (const client of bigClients) {
        for (const step of ['bare set', 'bare get'] as const) {
          const name = `${client} alone, ${step === 'bare set' ? 'SET' : 'GET'} of 10 MB`
          const bare = bares.get(name) ?? { name, results: [] }
          bares.set(name, bare)
          bare.results.push(await run({ step, client, key: `bare-${client}`, url: server.url }))
        }
      }
      touch.results.push(await run({ step: 'touch', client: 'ioredis 6', key: '', url: '' }))
    }
  } finally {
    await server.stop()
  }
  return {
    tables: [
      {
        id: 'held',
        title: `longest that the event loop was held, and time in all; ${runs} rounds, fresh processes`,
        columns: [
          ...steps.map((step) => ({ name: `${step}: held ms`, unit: 'ms' as const })),
          ...steps.map((step) => ({ name: `${step}: all ms`, unit: 'ms' as const })),
          { name: 'stored', unit: 'percent' },
          { name: 'slowCodec', unit: 'count' },
        ],
        rows: all.map(rowOf),
      },
      {
        id: 'bare',
        title: 'the same without a cache',
        columns: [
          { name: 'held ms', unit: 'ms' },
          { name: 'all ms', unit: 'ms' },
        ],
        rows: [...bares.values()].map(({ name, results }) => ({
          name,
          figures: [
            spread(results.map(({ heldMs }) => heldMs)),
            spread(results.map(({ wallMs }) => wallMs)),
          ],
        })),
      },
    ],
    budgets: all.flatMap(budgetsOf),
    notes: notesOf(all),
  }
}

async function bigRound({ client, kind, by, isStored }: Found, url: string, round: number) {
  for (const step of ['store', 'set'] as const) {
    const key = `${client}-${step}-${round}`
    const make = await run({ step, client, kind, key, url })
    by[step].push(make)
    const read = await run({ step: 'read', client, kind, key, url })
    by.read.push(read)
    isStored.push(read.tier === 'store')
  }
}

function run(plan: Omit<BigPlan, 'kind'> & { readonly kind?: BigKind }): Promise<BigResult> {
  return ask<BigResult>({ file, plan: { kind: 'buffer', ...plan }, limitMs: 60_000 })
}

function rowOf({ client, kind, by, isStored }: Found): Row {
  const of = (step: BigStep & keyof typeof by, figure: (it: BigResult) => number): Spread =>
    spread(by[step].map(figure))
  const stored = (isStored.filter(Boolean).length / isStored.length) * 100
  const told = steps.flatMap((step) => by[step]).flatMap(({ slow }) => slow).length
  return {
    name: `${titles[kind]}, ${client}`,
    figures: [
      ...steps.map((step) => of(step, ({ heldMs }) => heldMs)),
      ...steps.map((step) => of(step, ({ wallMs }) => wallMs)),
      { median: stored, min: stored, max: stored },
      { median: told, min: told, max: told },
    ],
  }
}

function budgetsOf({ client, kind, by, isStored }: Found): Budget[] {
  const what = `${titles[kind]}, ${client}`
  const held = steps.map((step): Budget => {
    const measured = spread(by[step].map(({ heldMs }) => heldMs))
    return {
      what: `${what}: longest hold, ${step}`,
      budget: `≤ ${mostMs[kind]} ms, the worst of all rounds`,
      measured: `${writeSpread(measured, 'ms')} ms`,
      met: measured.max <= mostMs[kind],
    }
  })
  const stored = isStored.filter(Boolean).length
  const results = steps.flatMap((step) => by[step])
  const long = results.filter(({ heldMs }) => heldMs > toldMs)
  const untold = long.filter(({ slow }) => slow.length === 0)
  return [
    ...held,
    {
      what: `${what}: found in the store by another process`,
      budget: 'always',
      measured: `${stored} of ${isStored.length}`,
      met: stored === isStored.length,
    },
    {
      what: `${what}: held for over ${toldMs} ms without a slowCodec event`,
      budget: 'never',
      measured: `${untold.length} of ${long.length}`,
      met: untold.length === 0,
    },
  ]
}

/** Each event, and each trouble, once per row, with how often it came. */
function notesOf(all: readonly Found[]): string[] {
  const notes: string[] = []
  for (const { client, kind, by } of all) {
    for (const step of steps) {
      const what = `${titles[kind]}, ${client}, ${step}`
      const told = by[step].flatMap(({ slow }) => slow)
      for (const operation of new Set(told.map((it) => it.operation))) {
        const these = told.filter((it) => it.operation === operation)
        const ms = writeSpread(spread(these.map((it) => it.ms)), 'ms')
        const [{ name, bytes } = { name: '', bytes: 0 }] = these
        notes.push(
          `- ${what}: \`slowCodec\` of \`${name}\`, ${operation}, ${bytes} bytes, ${ms} ms, told ${these.length} times`,
        )
      }
      const trouble = by[step].flatMap((it) => it.trouble.map(inOneLine))
      for (const it of new Set(trouble)) {
        notes.push(`- ${what}: ${it}: ${trouble.filter((one) => one === it).length} times`)
      }
    }
  }
  return notes.length === 0 ? [] : [notes.join('\n')]
}
