// The dashboard and the alert rules of monitoring/, and docs/metrics.md, taken apart: which expressions there
// are, and which metrics and labels these name.

import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const folder = new URL('../../monitoring/', import.meta.url)
export const rulesFile = fileURLToPath(new URL('prometheus/breakwater.rules.yml', folder))
export const rulesTestFile = fileURLToPath(new URL('prometheus/breakwater.rules.test.yml', folder))

export interface Panel {
  readonly id: number
  readonly type: string
  readonly title: string
  readonly description?: string
  readonly gridPos: {
    readonly x: number
    readonly y: number
    readonly w: number
    readonly h: number
  }
  readonly targets?: readonly { readonly expr: string }[]
}

interface Dashboard {
  readonly panels: readonly Panel[]
  readonly templating: {
    readonly list: readonly { readonly name: string; readonly definition?: string }[]
  }
}

export const dashboard = JSON.parse(
  readFileSync(new URL('grafana/breakwater.json', folder), 'utf8'),
) as Dashboard

export const panels = dashboard.panels.filter(({ type }) => type !== 'row')

/** As Grafana asks where everything is chosen. `over`: what its rates are over. */
export function asked(expression: string, over = '5m'): string {
  return expression
    .replaceAll('${prefix}', 'cache_')
    .replaceAll('$__rate_interval', over)
    .replaceAll(/\$(namespace|name|job|instance)\b/g, '.*')
}

export interface Rule {
  readonly record?: string
  readonly alert?: string
  readonly expr: string
  readonly for?: string
  readonly severity?: string
  readonly runbook?: string
}

/** The file is ours and plain: no YAML is needed to read it. */
export const rules: readonly Rule[] = readFileSync(rulesFile, 'utf8')
  .split(/^ {6}- (?=record:|alert:)/m)
  .slice(1)
  .map((text) => {
    const field = (name: string): string | undefined =>
      new RegExp(`^ *${name}: (?:>-\\n)?((?:.+(?:\\n {10}.*)*))`, 'm').exec(text)?.[1]?.trim()
    const one = (name: string): object => {
      const found = field(name)
      return found === undefined ? {} : { [name]: found }
    }
    const severity = /severity: (\w+)/.exec(text)?.[1]
    return {
      expr: field('expr') ?? '',
      ...one('record'),
      ...one('alert'),
      ...one('for'),
      ...one('runbook'),
      ...(severity === undefined ? {} : { severity }),
    }
  })

export interface Selector {
  readonly metric: string
  /** Those that are matched, and those that things are grouped by beside them. */
  readonly labels: readonly string[]
  readonly text: string
}

/** What is asked for in an expression, as `asked` gives it. */
export function selectors(expression: string): Selector[] {
  return [...expression.matchAll(/\b((?:cache_|definition:)[\w:]+)(\{[^}]*\})?/g)].map(
    ([text, metric, matchers = '']) => ({
      metric: metric!,
      labels: [...matchers.matchAll(/(\w+)\s*[=!]~?/g)].map(([, label]) => label!),
      text,
    }),
  )
}

export const page = readFileSync(new URL('../../docs/metrics.md', import.meta.url), 'utf8')

export const onBoard = panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => asked(expr)))

export const inDocs = [...page.matchAll(/^```promql\n([^]*?)^```$/gm)].map(([, code]) =>
  code!.trim(),
)

/** All that anybody asks for. */
export const expressions = [...onBoard, ...rules.map(({ expr }) => expr), ...inDocs]
