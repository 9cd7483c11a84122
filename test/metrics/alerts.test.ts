// The alert rules, by promtool: each fires where it should, and its section of the documentation says
// what to do.

import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { canStartPrometheus, promtool } from '@breakwater/rig'
import { describe, expect, it } from 'vitest'
import { inDocs, onBoard, page, rules, rulesFile, rulesTestFile } from '../support/monitoring.ts'

describe('the alerts', () => {
  const alerts = rules.filter(({ alert }) => alert !== undefined)
  const tests = readFileSync(rulesTestFile, 'utf8')

  it('have a severity, and a section of the documentation that names them', () => {
    expect(alerts.length).toBeGreaterThan(20)
    const astray = alerts.filter(({ alert, severity = '', runbook = '' }) => {
      const section = sections.get(runbook.replace('docs/metrics.md#', '')) ?? ''
      return (
        !['critical', 'warning', 'info'].includes(severity) ||
        !section.includes(`\`${alert}\`, ${severity}`)
      )
    })
    expect(astray).toEqual([])
    expect(page).toContain(`${alerts.length} [alerts](#alerts)`)
  })

  it('are tested, each by what it is for and by what only looks like it', () => {
    for (const { alert } of alerts) {
      expect(tests).toMatch(new RegExp(`name: '?(T\\d+, )?${alert}: .*; not where `))
    }
  })

  const isThere = canStartPrometheus() || process.env['BREAKWATER_CI'] !== undefined
  it.skipIf(!isThere)(
    'fire where they should, and nowhere else',
    () => {
      expect(told('test', 'rules', rulesTestFile)).toContain('SUCCESS')
    },
    120_000,
  )

  it.skipIf(!isThere)(
    'and all expressions of the board and of the documentation are PromQL',
    () => {
      const folder = mkdtempSync(join(tmpdir(), 'breakwater-promql-'))
      try {
        const file = join(folder, 'all.yml')
        const asRules = [...onBoard, ...inDocs].map((expr, n) => ({ record: `n${n}`, expr }))
        // YAML has JSON in it.
        writeFileSync(file, JSON.stringify({ groups: [{ name: 'all', rules: asRules }] }))
        expect(told('check', 'rules', file)).toContain('SUCCESS')
      } finally {
        rmSync(folder, { recursive: true })
      }
      expect(told('check', 'rules', rulesFile)).toContain('SUCCESS')
    },
  )
})

const sections = new Map(
  page.split(/^#{2,3} /m).map((text) => {
    const [heading = ''] = text.split('\n')
    return [
      heading
        .toLowerCase()
        .replaceAll(/[^\w -]/g, '')
        .replaceAll(' ', '-'),
      text,
    ] as const
  }),
)

function told(...command: string[]): string {
  return execFileSync(promtool(), command, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] })
}
