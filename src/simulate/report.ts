import type { Summary, Wrong } from './batch.ts'
import type { Extent, Plan } from './plan.ts'

export function printed(summary: Summary, extent: Extent, seconds: number): string {
  const { histories, figures, wrong } = summary
  const count = (name: string): string => (figures[name] ?? 0).toLocaleString('en')
  const faults = Object.entries(figures)
    .filter(([name]) => name.startsWith('fault '))
    .sort(([, a], [, b]) => b - a)
  const struck = faults.reduce((sum, [, n]) => sum + n, 0)
  const kinds = faults.map(([name, n]) => `${name.slice('fault '.length)} ${n}`).join(', ')
  const answers = ['hit', 'stale', 'loaded', 'waited', 'value', 'rejected']
    .map((name) => `${name} ${count(name)}`)
    .join(', ')
  return [
    `${histories} histories of ${extent.processes} processes, ${extent.operations} operations, ${extent.faults} faults`,
    `  operations  ${count('operations')} (answers: ${answers})`,
    `  faults      ${struck.toLocaleString('en')} (${kinds})`,
    `  loads       ${count('loads')}, with ${count('leases')} leases granted, ${count('unleased')} without one; ${count('published')} published, ${count('fenced')} fenced`,
    `  in time     ${count('seconds')} s imagined, ${count('events')} events, ${seconds.toFixed(1)} s on the clock`,
    `  violations  ${wrong.length === 0 ? 'none' : `in ${wrong.length} histories`}`,
  ].join('\n')
}

export function printedWrong({ seed, violations }: Wrong): string {
  const some = violations.slice(0, 3).map(({ invariant, at, text }) => {
    return `  ${invariant} at ${at.toFixed(3)}: ${text}`
  })
  return [`seed ${seed}:`, ...some].join('\n')
}

export function printedPlan(plan: Plan): string {
  const { commands, faults, ...settings } = plan
  return [
    JSON.stringify(settings),
    ...faults.map((fault) => JSON.stringify(fault)),
    ...commands.map((command) => JSON.stringify(command)),
  ].join('\n')
}
