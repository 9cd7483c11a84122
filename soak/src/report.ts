// What was held and what was lost, in figures.

import type { Soak } from './soak.ts'
import { heapTolerance } from './judge.ts'

export function describeSoak({ found, made, figures, resources, keys, slowestOkMs }: Soak): string {
  const sum = (of: (it: (typeof figures)[number]) => number): number =>
    figures.reduce((total, it) => total + of(it), 0)
  const byName = (
    of: (it: (typeof figures)[number]) => Readonly<Record<string, number>>,
  ): string => {
    const all = new Map<string, number>()
    for (const it of figures) {
      for (const [name, count] of Object.entries(of(it)))
        all.set(name, (all.get(name) ?? 0) + count)
    }
    return [...all].map(([name, count]) => `${name} ${count}`).join(', ') || 'none'
  }
  const latest = Math.max(...figures.map(({ latestMs }) => latestMs))
  const longest = Math.max(...figures.map(({ longestMs }) => longestMs))
  const heap = resources.map(
    ({ before, after }) => `${mib(before.heapUsed)} → ${mib(after.heapUsed)}`,
  )
  const counted = (of: Readonly<Record<string, number>>): number =>
    Object.values(of).reduce((total, count) => total + count, 0)
  const lines = [
    ['requests', `${sum(({ requests }) => requests)} of the processes that live at the end`],
    ['outcomes', byName(({ outcomes }) => outcomes)],
    ['told as they should be', byName(({ expected }) => expected)],
    ['errors', String(sum(({ errors }) => errors.length))],
    ['promises broken', String(sum(({ staleReads }) => staleReads.length))],
    [
      'loads',
      `${sum(({ runs }) => runs)}: leases ${sum(({ leases }) => leases)}, without ${sum(({ unleased }) => unleased)}`,
    ],
    ['most loads at once', String(Math.max(...figures.map(({ mostLoads }) => mostLoads)))],
    ['longest wait', `${longest.toFixed(0)} ms`],
    ['of that, at most', `${latest.toFixed(0)} ms that a process came late by itself`],
    ['slowest to be ok again', `${slowestOkMs.toFixed(0)} ms`],
    ['faults', [...made].map(([name, count]) => `${count} × ${name}`).join('; ')],
    ['heap', `${heap.join(', ')} (may differ by ${mib(heapTolerance)})`],
    [
      'handles',
      resources
        .map(({ before, after }) => `${counted(before.active)} → ${counted(after.active)}`)
        .join(', '),
    ],
    [
      'listeners',
      resources
        .map(({ before, after }) => `${counted(before.listeners)} → ${counted(after.listeners)}`)
        .join(', '),
    ],
    ['keys in Redis', `${keys.before} → ${keys.after}`],
  ] as const
  const width = Math.max(...lines.map(([name]) => name.length))
  const held =
    found.length === 0
      ? ['Everything was held.']
      : [`Lost (${found.length}):`, ...found.slice(0, 40).map((text) => `- ${text}`)]
  return [...lines.map(([name, text]) => `${name.padEnd(width)}  ${text}`), '', ...held].join('\n')
}

function mib(bytes: number): string {
  return `${(bytes / 1_048_576).toFixed(1)} MiB`
}
