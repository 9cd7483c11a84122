// The parts that the report and the live page share: a sentence on what was seen, the table of
// figures, the faults, the contenders.

import { type ContenderId, contenderNames } from '../contenders/contender.ts'
import type { FaultRow } from '../faults/fault-row.ts'
import type { Figures, Latency } from '../run/figures.ts'
import { escape } from './escape.ts'
import { inSeconds, ratio, share } from './wording.ts'

export function lead(contenders: readonly Figures[]): string {
  const of = (id: ContenderId): Figures | undefined =>
    contenders.find((one) => one.contender === id)
  const [plain, ours] = [of('plain'), of('breakwater')]
  if (plain === undefined || ours === undefined) return ''
  return (
    `Without protection the database ran up to <b>${plain.mostAtOnce}</b> copies of the same query at once ` +
    `and the page that merely shares it answered in <b>${inSeconds(plain.unrelated.p95)}</b> (p95). ` +
    `Behind breakwater it ran <b>${ours.mostAtOnce}</b>, and that page answered in ` +
    `<b>${inSeconds(ours.unrelated.p95)}</b>.`
  )
}

export function figuresTable(all: readonly Figures[]): string {
  const cell = (label: string, text: string): string => `<td data-label="${label}">${text}</td>`
  const times = (label: string, { p50, p95, p99, max }: Latency): string =>
    Object.entries({ p50, p95, p99, max })
      .map(([name, ms]) => cell(`${label} ${name}`, inSeconds(ms)))
      .join('')
  const rows = all.map(
    (
      one,
    ) => `<tr class="${one.contender}"><th scope="row">${contenderNames[one.contender as ContenderId].title}</th>
${cell('queries per expiry', ratio(one.queriesPerExpiry))}${cell('queries', String(one.queries))}${cell('expiries', String(one.expiries))}${cell('most at once', String(one.mostAtOnce))}${cell('most waiting', String(one.mostWaiting))}
${times('hot', one.hot)}
${times('unrelated', one.unrelated)}
${cell('outdated', String(one.outdated))}${cell('errors', share(one.errors, one.hot.requests + one.unrelated.requests))}</tr>`,
  )
  const percentiles =
    '<th scope="col">p50</th><th scope="col">p95</th><th scope="col">p99</th><th scope="col">max</th>'
  return `<div class="wide" role="region" aria-label="Figures" tabindex="0"><table class="figures">
<thead><tr><th rowspan="2"></th><th colspan="5" scope="colgroup">trending queries at the database</th><th colspan="4" scope="colgroup">hot endpoint</th><th colspan="4" scope="colgroup">unrelated endpoint</th><th rowspan="2" scope="col">outdated</th><th rowspan="2" scope="col">errors</th></tr>
<tr><th scope="col">per expiry</th><th scope="col">in all</th><th scope="col">expiries</th><th scope="col">at once</th><th scope="col">waiting</th>${percentiles}${percentiles}</tr></thead>
<tbody>${rows.join('\n')}</tbody>
</table></div>`
}

export function faultItem({ name, expected, happened, outcome }: FaultRow): string {
  const kind = outcome === 'as expected' ? 'good' : outcome === 'not run' ? 'open' : 'bad'
  return `<li class="${kind}"><b>${escape(name)}</b> <span class="outcome">${outcome}</span>
<div><i>expected</i> ${escape(expected)}</div><div><i>happened</i> ${escape(happened)}</div></li>`
}

export function definition(contender: string): string {
  const { title, how } = contenderNames[contender as ContenderId]
  return `<dt class="${contender}">${title}</dt><dd>${escape(how)}</dd>`
}
