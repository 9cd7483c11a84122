// Where Prometheus and its promtool are: the folder at BREAKWATER_PROMETHEUS_BIN (`none`: there are
// none), else the PATH. Both come with each other.

import { delimiter, join } from 'node:path'
import { isProgram } from './is-program.ts'

/** A folder with `prometheus` and `promtool`. */
export function findPrometheus(): string | undefined {
  const chosen = process.env['BREAKWATER_PROMETHEUS_BIN']
  if (chosen === 'none') return undefined
  const folders =
    chosen !== undefined && chosen !== ''
      ? [chosen]
      : (process.env['PATH'] ?? '').split(delimiter).filter((folder) => folder !== '')
  return folders.find((folder) =>
    ['prometheus', 'promtool'].every((name) => isProgram(join(folder, name))),
  )
}

/** False: no test of it can run. */
export function canStartPrometheus(): boolean {
  return findPrometheus() !== undefined
}

/** The path of promtool; throws where there is none. */
export function promtool(): string {
  return join(needed(findPrometheus()), 'promtool')
}

export function needed(folder: string | undefined): string {
  if (folder !== undefined) return folder
  throw new Error('expected prometheus and promtool on the PATH, found none: install Prometheus')
}
