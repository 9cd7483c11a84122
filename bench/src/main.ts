// `npm run bench -w bench -- [name …] [--runs N] [--json]`: runs benchmarks and prints what they
// found. A missed budget is a finding, not an error; only what could not be measured exits with 1.

import { readFlags, type Flags } from './flags.ts'
import { toMarkdown, type Benchmark, type Report } from './measure/report.ts'
import { coldHerd } from './benchmarks/cold-herd.ts'
import { l1Hit } from './benchmarks/l1-hit.ts'
import { l2Hit } from './benchmarks/l2-hit.ts'
import { memory } from './benchmarks/memory.ts'
import { staleHerd } from './benchmarks/stale-herd.ts'
import { waiterWake } from './benchmarks/waiter-wake.ts'

const benchmarks: ReadonlyMap<string, Benchmark> = new Map([
  ['l1-hit', l1Hit],
  ['l2-hit', l2Hit],
  ['stale-herd', staleHerd],
  ['cold-herd', coldHerd],
  ['waiter-wake', waiterWake],
  ['memory', memory],
])

const help = `Usage: npm run bench -w bench -- [name …] [--runs N] [--json]

Names: ${[...benchmarks.keys()].join(', ')}; without any, all in turn.
  --runs N   how often to repeat (pairs of batches, herds, or trials: see bench/README.md)
  --json     figures as JSON on stdout, and nothing else there
`

process.exitCode = await main(process.argv.slice(2))

async function main(args: readonly string[]): Promise<number> {
  let flags: Flags
  try {
    flags = readFlags(args)
    const unknown = flags.names.find((name) => !benchmarks.has(name))
    if (unknown !== undefined) throw new Error(`expected a benchmark's name, got '${unknown}'`)
  } catch (error) {
    console.error(`${error instanceof Error ? error.message : String(error)}\n\n${help}`)
    return 1
  }
  if (flags.help) {
    console.log(help)
    return 0
  }
  const reports: Record<string, Report> = {}
  let failures = 0
  for (const [name, run] of benchmarks) {
    if (flags.names.length > 0 && !flags.names.includes(name)) continue
    const say = (text: string): void => console.error(`${name}: ${text}`)
    try {
      const report = await run({ runs: flags.runs, say })
      reports[name] = report
      if (!flags.json) console.log(`${toMarkdown(report)}\n`)
    } catch (error) {
      failures += 1
      console.error(`${name} could not be measured:`, error)
    }
  }
  if (flags.json) console.log(JSON.stringify({ node: process.version, reports }, undefined, 2))
  else console.log(`Node.js ${process.version}, ${process.platform} ${process.arch}`)
  return failures > 0 ? 1 : 0
}
