import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'

const here = new URL('.', import.meta.url)
const page = readFileSync(new URL('../../../docs/http-rules.md', here), 'utf8')

/** The rows of all tables: the last cell names tests. */
const rows = page
  .split('\n')
  .filter((line) => line.startsWith('| ') && !line.startsWith('| section'))
  .map((line) => line.split(' | '))

/** As a cell has them: a file, and in quotes words of the names of its tests. */
const named = /`([a-z.-]+)`((?:,? "[^"]+")+)/g

describe('the table of rules', () => {
  it('has four cells in each row, and many rows', () => {
    expect(rows.length).toBeGreaterThan(80)
    expect(rows.filter((cells) => cells.length !== 4)).toEqual([])
  })

  it('names tests that there are', () => {
    const unknown: string[] = []
    let found = 0
    for (const cells of rows) {
      for (const [, file = '', names = ''] of (cells[3] ?? '').matchAll(named)) {
        const at = ['matrix', 'express'].includes(file) ? `../${file}` : file
        const source = readFileSync(new URL(`${at}.test.ts`, here), 'utf8')
        for (const [, name = ''] of names.matchAll(/"([^"]+)"/g)) {
          found += 1
          if (!source.replaceAll('\\`', '`').includes(name)) unknown.push(`${file}: ${name}`)
        }
      }
    }
    expect(unknown).toEqual([])
    expect(found).toBeGreaterThan(80)
  })

  it('names a test for each rule, but where nothing is done', () => {
    const without = rows.filter((cells) => !/`/.test(cells[3] ?? ''))
    expect(without.map((cells) => cells[2])).toEqual([
      'ignored',
      'is not: it would tell what the key is made of',
    ])
  })
})
