// The moment in words and figures: one tile per question that somebody on call would ask.

import { escape } from '../report/escape.ts'
import { inSeconds, plural } from '../report/wording.ts'
import type { Now, ProcessNow } from './now.ts'

interface Tile {
  readonly title: string
  readonly value: string
  readonly more?: string
}

export function tiles(now: Now | undefined): string {
  const all = now === undefined ? quiet : tilesOf(now)
  return all
    .map(
      ({ title, value, more }) =>
        `<div class="tile"><dt>${title}</dt><dd><b>${escape(value)}</b>` +
        `${more === undefined ? '' : ` <span>${escape(more)}</span>`}</dd></div>`,
    )
    .join('\n')
}

const titles = [
  'Requests',
  'Trending queries',
  'Hot endpoint, p95',
  'Unrelated endpoint, p95',
  'Callers waiting',
  'Lease',
  'Breaker',
  'Bus',
] as const

const quiet: readonly Tile[] = titles.map((title) => ({ title, value: '–' }))

function tilesOf(now: Now): readonly Tile[] {
  const values: readonly Omit<Tile, 'title'>[] = [
    {
      value: `${Math.round(now.requestsPerSecond)} per second`,
      more: `${plural(now.errors, 'error', 'errors')} so far`,
    },
    { value: `${now.running} running`, more: `${now.total} in all` },
    { value: time(now.p95.hot) },
    { value: time(now.p95.unrelated) },
    {
      value: String(now.waiting.hot + now.waiting.unrelated),
      more: `${now.waiting.hot} hot, ${now.waiting.unrelated} unrelated; ${now.waitingForConnection} for a connection`,
    },
    leaseOf(now),
    breakerOf(now),
    busOf(now),
  ]
  return values.map((tile, index) => ({ title: titles[index] ?? '', ...tile }))
}

function leaseOf({ contender, processes }: Now): Omit<Tile, 'title'> {
  if (contender === 'plain') return { value: 'none', more: 'this recipe has no lock' }
  const loading = processes.filter(({ holdsMs }) => holdsMs !== undefined)
  const alone = loading.filter(({ health }) => health !== undefined && health.store !== 'up')
  if (alone.length > 0) {
    return {
      value: 'none',
      more: `${named(alone)} ${alone.length === 1 ? 'loads' : 'load'} without`,
    }
  }
  // The latest: a load that a write has overtaken goes on, but its lease is another's now.
  const holder = loading.toSorted((a, b) => (a.holdsMs ?? 0) - (b.holdsMs ?? 0))[0]
  return holder === undefined
    ? { value: 'free' }
    : {
        value: `process ${holder.number}`,
        more: `for ${((holder.holdsMs ?? 0) / 1000).toFixed(1)} s`,
      }
}

function breakerOf({ processes, contender }: Now): Omit<Tile, 'title'> {
  if (!contender.startsWith('breakwater')) return { value: 'none', more: 'this recipe has none' }
  const known = processes.filter(({ health }) => health !== undefined)
  if (known.every(({ health }) => health?.store === 'none'))
    return { value: 'none', more: 'no Redis' }
  const open = known.filter(({ health }) => health?.store === 'down')
  return open.length === 0
    ? { value: 'closed', more: `in ${plural(known.length, 'process', 'processes')}` }
    : { value: 'open', more: `in ${named(open)}` }
}

function busOf({ processes, contender }: Now): Omit<Tile, 'title'> {
  if (!contender.startsWith('breakwater')) return { value: 'none', more: 'this recipe has none' }
  const known = processes.filter(({ health }) => health !== undefined)
  if (known.every(({ health }) => health?.bus === 'none'))
    return { value: 'none', more: 'no Redis' }
  const silent = known.filter(({ health }) => health?.bus === 'silent')
  return silent.length === 0
    ? { value: 'heard', more: `by ${plural(known.length, 'process', 'processes')}` }
    : { value: 'silent', more: `in ${named(silent)}` }
}

export function processList(now: Now | undefined): string {
  if (now === undefined) return ''
  return now.processes
    .map((one) => {
      const [kind, what] = !one.isAlive
        ? ['gone', 'gone']
        : one.holdsMs !== undefined
          ? ['holds', 'queries']
          : ['serves', 'serves']
      return `<li class="${kind}"><span aria-hidden="true">${signs[kind] ?? ''}</span> process ${one.number} ${what}</li>`
    })
    .join('\n')
}

const signs: Readonly<Record<string, string>> = { gone: '✗', holds: '◆', serves: '○' }

function named(processes: readonly ProcessNow[]): string {
  const numbers = processes.map(({ number }) => number)
  return numbers.length === 1 ? `process ${numbers[0]}` : `processes ${numbers.join(', ')}`
}

function time(ms: number | undefined): string {
  return ms === undefined ? '–' : inSeconds(ms)
}
