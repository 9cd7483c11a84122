// Faults that a stranger has found in what `breakwater simulate` reads: a file of another program is
// refused in a short sentence, and none makes it run for ever.

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { readLab } from '../../cli/src/what-if/beside-lab/read-lab.ts'
import { readLoadTimes, readTrace } from '../../cli/src/what-if/read-files.ts'

interface Run {
  setting: Record<string, unknown>
  measured: Record<string, unknown>[]
}

const folder = mkdtempSync(join(tmpdir(), 'breakwater-found-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const [run] = JSON.parse(readFileSync(new URL('./lab-runs.json', import.meta.url), 'utf8')) as [Run]

function file(text: string): string {
  const name = join(folder, 'given')
  writeFileSync(name, text)
  return name
}

it.each([
  ['processes', 0],
  ['hotPerSecond', -5],
  ['ttlMs', 0],
  ['runMs', 1e15],
  ['queriesPerSecond', 0],
])('a run of the lab with %s = %d is refused by name', async (name, value) => {
  const given = { ...run, setting: { ...run.setting, [name]: value } }
  await expect(readLab(file(JSON.stringify(given)))).rejects.toThrow(`${name} from`)
})

it.each([
  { queries: [1, 'x', null] },
  { queries: [[1]] },
  { queries: [[1, 'x']] },
  { hitMs: ['a'] },
  { hitMs: [null] },
  { queries: [[1, -1]] },
])('a run of the lab with %j is refused', async (wrong) => {
  const given = { ...run, measured: run.measured.map((one) => ({ ...one, ...wrong })) }
  await expect(readLab(file(JSON.stringify(given)))).rejects.toThrow(/^--lab: expected/)
})

it('a run of the lab without contenders agrees with nothing: it is refused', async () => {
  await expect(readLab(file(JSON.stringify({ ...run, measured: [] })))).rejects.toThrow(
    'one contender',
  )
})

it('a load time is finite', async () => {
  await expect(readLoadTimes('--load-file', file('1 Infinity'))).rejects.toThrow('got "Infinity"')
})

it('a file of one long line is not printed whole', async () => {
  const text = await readTrace('--trace', file('x'.repeat(1e6))).catch(String)
  expect(String(text).length).toBeLessThan(500)
})
