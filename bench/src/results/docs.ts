// The pages that are made from the kept results: written, or compared with what is there.

import { readFileSync, writeFileSync } from 'node:fs'
import { withCodecTables } from './codec-tables.ts'
import { readKept, type Kept } from './kept.ts'
import { withTable } from './readme-table.ts'
import { resultsPage } from './results-page.ts'

interface Page {
  readonly name: string
  readonly file: URL
  readonly text: string
}

export function writeDocs(names: Iterable<string>): void {
  for (const { file, text } of pages(names)) writeFileSync(file, text)
}

/** The pages that say something else than the kept results. */
export function outdatedDocs(names: Iterable<string>): string[] {
  return pages(names)
    .filter(({ file, text }) => readFileSync(file, 'utf8') !== text)
    .map(({ name }) => name)
}

function pages(names: Iterable<string>): Page[] {
  const all = new Map<string, Kept>()
  for (const name of names) {
    const kept = readKept(name)
    if (kept !== undefined) all.set(name, kept)
  }
  const readme = new URL('../../../README.md', import.meta.url)
  const codecs = new URL('../../../docs/choosing-a-codec.md', import.meta.url)
  return [
    {
      name: 'bench/RESULTS.md',
      file: new URL('../../RESULTS.md', import.meta.url),
      text: resultsPage(all),
    },
    { name: 'README.md', file: readme, text: withTable(readFileSync(readme, 'utf8'), all) },
    {
      name: 'docs/choosing-a-codec.md',
      file: codecs,
      text: withCodecTables(readFileSync(codecs, 'utf8'), all),
    },
  ]
}
