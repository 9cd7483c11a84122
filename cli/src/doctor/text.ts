/** Findings in words: the ailing ones with all that is known, the others in a line each. */
import { plain, type Paint } from '../print/paint.ts'
import { list } from '../print/table.ts'
import type { Finding, Result } from './finding.ts'

const signs: Readonly<Record<Result, readonly [Parameters<Paint>[0], string]>> = {
  ok: ['green', 'ok'],
  warning: ['yellow', 'warning'],
  problem: ['red', 'PROBLEM'],
  unknown: ['dim', 'unknown'],
}

export function findingsText(
  findings: readonly Finding[],
  { paint, title }: { readonly paint: Paint; readonly title: string },
): string {
  const rows = merged(findings).map((finding): readonly [string, string] => {
    const [style, word] = signs[finding.result]
    return [`${paint(style, word.padEnd(7))}  ${finding.check}`, detailOf(finding, paint)]
  })
  return [paint('bold', plain(title)), ...list(rows, '')].join('\n')
}

function detailOf({ server, found, why, change }: Finding, paint: Paint): string {
  const where = server === undefined ? '' : `${server}: `
  const lines = [where + plain(found)]
  if (why !== undefined) lines.push(paint('dim', `why: ${why}`))
  if (change !== undefined) {
    const [first, ...rest] = change.split('\n')
    lines.push(
      `change: ${paint('cyan', first!)}`,
      ...rest.map((line) => `        ${paint('cyan', line)}`),
    )
  }
  return lines.join('\n')
}

/** Where all servers are well it is said once. */
function merged(findings: readonly Finding[]): readonly Finding[] {
  return findings.filter((finding, n) => {
    if (finding.result !== 'ok' || finding.server === undefined) return true
    const same = findings.filter((other) => other.check === finding.check)
    return same.some(({ result }) => result !== 'ok') || findings.indexOf(same[0]!) === n
  })
}
