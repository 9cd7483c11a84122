/** One picture of the fleet: definitions by requests, then processes. */
import { plain, type Paint } from '../print/paint.ts'
import { cut, table } from '../print/table.ts'
import { duration, perSecond, share } from '../print/units.ts'
import type { DefinitionRates, ProcessRates, Rates } from './rates.ts'

export interface ViewHow {
  readonly paint: Paint
  readonly title: string
  /** Lines that there is room for. */
  readonly rows: number
  readonly columns: number
}

const longestName = 40

export function view({ definitions, processes }: Rates, how: ViewHow): string[] {
  const { paint, title, rows, columns } = how
  const total = (of: (one: DefinitionRates) => number): number =>
    definitions.reduce((sum, one) => sum + of(one), 0)
  const requests = total((one) => one.requests)
  const summary =
    `${processes.length} ${processes.length === 1 ? 'process' : 'processes'}, ` +
    `${perSecond(requests)} requests/s, ${share(
      total((one) => one.hits),
      requests,
    )} hits, ` +
    `${perSecond(total((one) => one.loads))} loads/s, ${total((one) => one.waiting)} waiting`
  const room = Math.max(6, rows - 6)
  const forProcesses = Math.min(processes.length, Math.max(3, Math.floor(room / 2)))
  const forDefinitions = Math.max(3, room - forProcesses)
  const lines = [
    paint('bold', title),
    summary,
    '',
    ...definitionTable(definitions, forDefinitions, paint),
    '',
    ...processTable(processes, forProcesses, paint),
  ]
  return lines.map((line) => (paint.isOn ? line : cut(line, columns)))
}

function definitionTable(all: readonly DefinitionRates[], most: number, paint: Paint): string[] {
  const head = [
    'DEFINITION',
    'REQ/S',
    'HIT',
    'MEMORY',
    'STALE',
    'LOADS/S',
    'FAILED/S',
    'LOADING',
    'WAITING',
  ]
  const rows = all
    .slice(0, most)
    .map((one) => [
      one.name === '' ? '(one-off keys)' : cut(plain(one.name), longestName),
      perSecond(one.requests),
      share(one.hits, one.requests),
      share(one.memoryHits, one.requests),
      share(one.stale, one.requests),
      perSecond(one.loads),
      perSecond(one.failures),
      String(one.loading),
      String(one.waiting),
    ])
  return withHead(table([head, ...rows]), all.length - rows.length, paint)
}

function processTable(all: readonly ProcessRates[], most: number, paint: Paint): string[] {
  const head = [
    'PROCESS',
    'UP',
    'REQ/S',
    'LOADS/S',
    'RUNNING',
    'QUEUED',
    'LIMIT',
    'WAITING',
    'STATE',
  ]
  const rows = all
    .slice(0, most)
    .map((one) => [
      cut(`${plain(one.host)}:${one.pid} ${plain(one.id)}`, longestName),
      duration(Math.floor(one.uptimeMs / 1_000) * 1_000),
      perSecond(one.requests),
      perSecond(one.loads),
      String(one.running),
      String(one.queued),
      String(one.limit),
      String(one.waiting),
      stateOf(one),
    ])
  return withHead(table([head, ...rows]), all.length - rows.length, paint)
}

/** What is not well by name: the store (its breaker is open), the bus (it does not hear). */
function stateOf({ status, store, bus }: ProcessRates): string {
  const ill = [
    ...(store === 'down' ? ['store down'] : []),
    ...(bus === 'silent' ? ['bus silent'] : []),
  ]
  return ill.length === 0 ? plain(status) : ill.join(', ')
}

function withHead([head = '', ...rows]: string[], left: number, paint: Paint): string[] {
  return [paint('dim', head), ...rows, ...(left > 0 ? [paint('dim', `… and ${left} more`)] : [])]
}
