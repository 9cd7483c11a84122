// `breakwater proxy` beside nginx on the same work, taking turns: what reaches the origin, and what the
// visitors wait.

import { problemOf, type Budget, type Report, type Row, type Setting } from '../measure/report.ts'
import { spread } from '../measure/statistics.ts'
import { write } from '../measure/units.ts'
import { startOrigin } from '../proxy/origin.ts'
import { burst, bursts, delayMs, lanes, pacedPerSecond, warmRequests } from '../proxy/plan.ts'
import { nginxVersion, rivals, type Rival } from '../proxy/rivals.ts'
import { coldBurst, hits, stalePeriod, warmUp, type At, type Figures } from '../proxy/work.ts'

interface Cell {
  readonly id: string
  readonly title: string
  run(at: At): Promise<Figures>
}

const columns = [
  { name: 'origin requests', unit: 'count' },
  { name: 'p50 ms', unit: 'ms' },
  { name: 'p95 ms', unit: 'ms' },
  { name: 'requests per second', unit: 'count' },
] as const

export async function proxy({ quick, runs = quick ? 3 : 5, say }: Setting): Promise<Report> {
  const version = nginxVersion()
  const all = rivals.filter(({ name }) => version !== undefined || !name.startsWith('nginx'))
  const cells = cellsOf(quick)
  const found = new Map<string, Figures[]>()
  const problems = new Map<string, string>()
  const origin = await startOrigin()
  try {
    for (let round = 0; round < runs; round += 1) {
      for (const rival of turned(all, round)) {
        say(`round ${round + 1} of ${runs}: ${rival.name}`)
        await measure(rival, cells, { origin, found, problems })
      }
    }
  } finally {
    origin.close()
  }
  const rowOf = ({ id }: Cell, { name }: Rival): Row => {
    const repeats = found.get(`${id} ${name}`) ?? []
    const problem = problems.get(`${id} ${name}`)
    if (problem !== undefined || repeats.length === 0) {
      return { name, figures: [], problem: problem ?? 'nothing' }
    }
    const of = (figure: keyof Figures) => spread(repeats.map((it) => whole(it[figure], figure)))
    return { name, figures: [of('originRequests'), of('p50'), of('p95'), of('perSecond')] }
  }
  return {
    tables: cells.map((cell) => ({
      id: cell.id,
      title: cell.title,
      columns,
      rows: all.map((rival) => rowOf(cell, rival)),
    })),
    budgets: budgetsOf(found),
    notes: [
      `Medians (least … most) of ${runs} rounds in which the proxies took turns, each started anew and warm ` +
        `after ${warmRequests} requests. The origin and all clients are one process beside the proxy: with more than one worker they compete for the same processors.`,
      version === undefined
        ? 'nginx is not installed, and left out: `apt-get install nginx`, or `brew install nginx`.'
        : `nginx ${version} with proxy_cache_lock, proxy_cache_use_stale updating and proxy_cache_background_update. ` +
          'Its waiters look every 500 ms whether the page is there.',
    ],
  }
}

interface Book {
  readonly origin: At['origin']
  readonly found: Map<string, Figures[]>
  readonly problems: Map<string, string>
}

async function measure(rival: Rival, cells: readonly Cell[], { origin, found, problems }: Book) {
  let key = `${cells[0]!.id} ${rival.name}`
  try {
    const { port, end } = await rival.start(origin.url)
    try {
      await warmUp({ port, origin })
      for (const { id, run } of cells) {
        key = `${id} ${rival.name}`
        const before = found.get(key) ?? []
        found.set(key, [...before, await run({ port, origin })])
      }
    } finally {
      await end()
    }
  } catch (error) {
    problems.set(key, problemOf(error))
  }
}

function cellsOf(quick: boolean): readonly Cell[] {
  const hitMs = quick ? 1_000 : 2_000
  const staleMs = quick ? 3_000 : 5_000
  return [
    ...(['1 KB', '50 KB'] as const).map((size) => ({
      id: `hit ${size}`,
      title: `Hits of ${size}, ${lanes} kept connections`,
      run: (at: At) => hits(at, size, hitMs),
    })),
    {
      id: 'cold',
      title:
        `${burst} connections ask for one cold page of 1 KB at once, ${bursts} times; the origin takes ${delayMs} ms; ` +
        'the most that it was asked for a page',
      run: coldBurst,
    },
    {
      id: 'stale',
      title:
        `A page that is fresh for 1 s and may be stale for 60 s, ${pacedPerSecond} requests per second for ` +
        `${staleMs / 1_000} s; the origin takes ${delayMs} ms`,
      run: (at) => stalePeriod(at, staleMs),
    },
  ]
}

/** Another one begins each round. */
function turned<T>(all: readonly T[], by: number): readonly T[] {
  const at = by % all.length
  return [...all.slice(at), ...all.slice(0, at)]
}

function whole(value: number, figure: keyof Figures): number {
  return figure === 'perSecond' ? Math.round(value) : value
}

function budgetsOf(found: ReadonlyMap<string, readonly Figures[]>): Budget[] {
  return rivals
    .filter(({ name }) => name.startsWith('breakwater'))
    .flatMap(({ name }) => [
      most(found.get(`cold ${name}`), `${name}: origin requests of a cold burst`, {
        figure: 'originRequests',
        limit: 1,
      }),
      most(found.get(`stale ${name}`), `${name}: p95 in the stale period, ms`, {
        figure: 'p95',
        limit: delayMs / 2,
      }),
    ])
    .filter((budget) => budget !== undefined)
}

function most(
  repeats: readonly Figures[] | undefined,
  what: string,
  { figure, limit }: { readonly figure: keyof Figures; readonly limit: number },
): Budget | undefined {
  if (repeats === undefined) return undefined
  const worst = Math.max(...repeats.map((it) => it[figure]))
  const unit = figure === 'p95' ? 'ms' : 'count'
  return {
    what,
    budget: `≤ ${write(limit, unit)}`,
    measured: write(worst, unit),
    met: worst <= limit,
  }
}
