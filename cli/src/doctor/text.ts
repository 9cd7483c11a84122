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
  const where = server === undefined ? '' : `${plain(server)}: `
  const lines = [where + plain(found)]
  if (why !== undefined) lines.push(paint('dim', `why: ${plain(why)}`))
  if (change !== undefined) {
    const [first, ...rest] = change.split('\n').map(plain)
    lines.push(
      `change: ${paint('cyan', first!)}`,
      ...rest.map((line) => `        ${paint('cyan', line)}`),
    )
  }
  return lines.join('\n')
}

/** Where all servers are well it is said once, of the first of them. */
function merged(findings: readonly Finding[]): readonly Finding[] {
  return findings.flatMap((finding) => {
    const { check, server, result } = finding
    if (result !== 'ok' || server === undefined) return [finding]
    const same = findings.filter((other) => other.check === check)
    if (same.some((other) => other.result !== 'ok')) return [finding]
    const others = same.length - 1
    if (same[0] !== finding || others === 0) return same[0] === finding ? [finding] : []
    return [{ ...finding, server: `${server} and ${others} ${others === 1 ? 'other' : 'others'}` }]
  })
}
