// `breakwater simulate` as it is called: the built command in a process of its own.

import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

import { readLab } from '../../cli/src/what-if/beside-lab/read-lab.ts'
import { simulateCommand } from '../../cli/src/what-if/command.ts'
import { Misuse } from '../../cli/src/what-if/misuse.ts'
import type { Given } from '../../cli/src/what-if/options.ts'
import { readTrace } from '../../cli/src/what-if/read-files.ts'
import { rulesOf, scenarioOf, strategiesOf, targetsOf } from '../../cli/src/what-if/settings.ts'

const main = fileURLToPath(new URL('../../cli/dist/main.js', import.meta.url))
const measured = fileURLToPath(new URL('./lab-runs.json', import.meta.url))
let folder = ''

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'breakwater-what-if-'))
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

function simulate(...args: string[]): { code: number | null; out: string; err: string } {
  const all = [main, 'simulate', ...args]
  const { status, stdout, stderr } = spawnSync(process.execPath, all, { encoding: 'utf8' })
  return { code: status, out: stdout, err: stderr }
}

function file(name: string, text: string): string {
  const path = join(folder, name)
  writeFileSync(path, text)
  return path
}

const small = ['--keys', '20', '--duration', '2m']

describe('its figures', () => {
  it('are JSON on stdout, the same for the same seed', () => {
    const one = simulate(...small, '--json', '--seed', '7')
    const other = simulate(...small, '--json', '--seed', '7')
    expect(one.code).toBe(0)
    expect(one.out).toBe(other.out)
    const { figures, scenario, rules } = JSON.parse(one.out)
    expect(figures.map((f: { strategy: string }) => f.strategy)).toEqual([
      'none', 'coalescing', 'lock-retry', 'lock-poll', 'xfetch', 'breakwater',
    ]) // prettier-ignore
    expect(scenario).toMatchObject({ keys: 20, seed: 7, source: { places: null } })
    expect(rules).toMatchObject({ ttlMs: 60_000, limit: { perSecond: null } })
    expect(figures[5].loadsPerExpiry).toBe(1)
  })

  it('are charts and tables within 80 columns, without colour where nobody looks', () => {
    const { code, out } = simulate(...small)
    expect(code).toBe(0)
    expect(out).toMatch(/breakwater +█/)
    expect(out).toContain('loads per expiry')
    expect(Math.max(...out.split('\n').map((line) => line.length))).toBeLessThanOrEqual(80)
    expect(out).not.toContain('\u001b')
  })

  it('are a page that asks nobody for anything and has every figure in a table', () => {
    const page = join(folder, 'page.html')
    const advised = ['--recommend', '--max-staleness', '60s', '--strategies', 'none,breakwater']
    expect(simulate(...small, ...advised, '--html', page).code).toBe(0)
    const html = readFileSync(page, 'utf8')
    expect(html).not.toMatch(/https?:|<script|<link|@import|url\(/)
    expect(html.match(/<table>/g)).toHaveLength(3)
    expect(html.match(/role="img" aria-label/g)).toHaveLength(3)
    expect(html).toContain('prefers-color-scheme:dark')
    expect(html).toContain('const cache = createCache({')
  })
})

describe('a trace and measured load times', () => {
  it('give the popularity of keys, the rate, and the loads', () => {
    const lines = Array.from({ length: 400 }, (_, n) => `${n / 40} ${n % 4 === 0 ? 'b' : 'a b c'}`)
    const trace = file('trace.txt', `# seconds key\n${lines.join('\n')}\n`)
    const times = file('times.txt', '120 80\n[100, 100]')
    const { code, out } = simulate('--trace', trace, '--load-file', times, '--json')
    expect(code).toBe(0)
    const { scenario } = JSON.parse(out)
    expect(scenario.keys).toBe(2)
    expect(scenario.requestsPerSecond).toBeCloseTo(40, 0)
    expect(scenario.load.sortedMs).toEqual([80, 100, 100, 120])
  })
})

describe('called in a wrong way', () => {
  it.each([
    [['--ttl', '5'], /^--ttl: expected a duration such as '250ms'.*, got "5"$/],
    [['--rate', 'many'], /^--rate: expected a number from 0\.001 .*, got "many"$/],
    [['--keys', '1.5'], /^--keys: expected a whole number from 1 to 1000000, got "1\.5"$/],
    [['--load', 'gamma:1s'], /^--load: expected '200ms', .*, got "gamma:1s"$/],
    [['--load', 'lognormal:2s,1s'], /^--load: expected a p99 that is no less than the p50/],
    [['--strategies', 'hope'], /^--strategies: expected none, .*, got "hope"$/],
    [['--source-concurrency', '0'], /^--source-concurrency: expected .*, got "0"$/],
    [['--target-p99', '1s'], /^--recommend: expected it together with a target/],
    [['--recommend'], /^--target-p99: expected it, or another target/],
  ])('with %j it says what it expected', async (args, said) => {
    const command = simulateCommand()
    command.parseOptions(args)
    const given = command.opts<Given>()
    const settings = async () => [
      targetsOf(given),
      strategiesOf(given),
      rulesOf(given),
      await scenarioOf(given),
    ]
    await expect(settings()).rejects.toThrow(said)
    await expect(settings()).rejects.toBeInstanceOf(Misuse)
  })

  it.each([
    [['--ttl', '5'], /^--ttl: expected .*\n$/],
    [['--bogus'], /unknown option '--bogus'/],
  ])('with %j it ends with 2, and prints nothing else', (args, said) => {
    const { code, out, err } = simulate(...args)
    expect(err).toMatch(said)
    expect(out).toBe('')
    expect(code).toBe(2)
  })

  it('with lines that are none, it names the line', async () => {
    const reading = readTrace('--trace', file('bad.txt', '1 a\nnow b\n'))
    await expect(reading).rejects.toThrow(/line 2 of .*, got "now b"/)
  })
})

describe('beside the lab', () => {
  // Five runs of `npm start -- --quick --json` on two busy cores, cut down to what is compared.
  const runs = (): unknown[] => JSON.parse(readFileSync(measured, 'utf8'))

  it('agrees on loads within one and on p95 within a quarter, of every contender', () => {
    const files = runs().map((run, n) => file(`lab-${n}.json`, JSON.stringify(run)))
    const { code, out } = simulate('--lab', ...files, '--json')
    const { comparisons } = JSON.parse(out)
    expect(comparisons).toHaveLength(6)
    for (const { agrees, contender } of comparisons) {
      expect({ contender, ...agrees }).toEqual({ contender, loads: true, p95: true })
    }
    expect(code).toBe(0)
  })

  it('ends with 1 where they differ, and says where', () => {
    const [run] = runs() as [{ contenders: { queries: number }[] }]
    const figures = run.contenders.map((one) => ({ ...one, queries: one.queries + 9 }))
    const other = file('other.json', JSON.stringify({ ...run, contenders: figures }))
    const { code, out } = simulate('--lab', other)
    expect(out).toMatch(/breakwater .*loads differ/)
    expect(code).toBe(1)
  })

  it.each([
    ['{"setting":{},"contenders":[]}', /^--lab: expected what .* prints, with a number processes/],
    ['Building lab …', /^--lab: expected what .* prints, with JSON and nothing else/],
  ])('refuses a file of %j', async (text, said) => {
    await expect(readLab(file('old.json', text))).rejects.toThrow(said)
  })
})
