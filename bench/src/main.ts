// `npm run bench -- [name …]`: runs benchmarks and prints what they found. A missed budget is a
// finding, not an error; what exits with 1 is what could not be measured, and a missed promise of the
// documentation.

import { benchmarks } from './benchmarks/benchmarks.ts'
import { readFlags, type Flags } from './flags.ts'
import { toMarkdown } from './measure/report.ts'
import { outdatedDocs, writeDocs } from './results/docs.ts'
import { describeRun, keep, toJson, type Kept } from './results/kept.ts'

const help = `Usage: npm run bench -- [name …] [--quick] [--runs N] [--rate N] [--json | --save]
       npm run bench -- --docs | --check-docs

Names: ${[...benchmarks.keys()].join(', ')}; without any, all in turn.
  --quick       fewer repeats and fewer cases: all in less than three minutes
  --runs N      how often to repeat (see bench/README.md)
  --rate N      requests per second, where they come by schedule (outage)
  --json        figures as JSON on stdout, and nothing else there
  --save        keep the figures in bench/results/, and write the pages made from them
  --docs        write bench/RESULTS.md and the tables of README.md and docs/choosing-a-codec.md
                from what is kept
  --check-docs  exit with 1 if these pages say something else
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
  if (flags.docs === 'check') return checkDocs()
  if (flags.docs === 'write') writeDocs(benchmarks.keys())
  return flags.docs === 'write' ? 0 : run(flags)
}

async function run({ names, quick, runs, rate, json, save }: Flags): Promise<number> {
  const about = await describeRun()
  const found: Record<string, Kept> = {}
  let failures = 0
  for (const [name, benchmark] of benchmarks) {
    if (names.length > 0 && !names.includes(name)) continue
    const say = (text: string): void => console.error(`${name}: ${text}`)
    const began = performance.now()
    try {
      const kept = { ...about, report: await benchmark({ quick, runs, rate, say }) }
      say(`took ${((performance.now() - began) / 1_000).toFixed(0)} s`)
      found[name] = kept
      if (save) keep(name, kept)
      for (const { what, budget, measured, met, must } of kept.report.budgets) {
        if (met || must !== true) continue
        failures += 1
        say(`promised and missed: ${what}: ${budget}, measured ${measured}`)
      }
      if (!json) console.log(`${toMarkdown(name, kept.report)}\n`)
    } catch (error) {
      failures += 1
      console.error(`${name} could not be measured:`, error)
    }
  }
  if (save) writeDocs(benchmarks.keys())
  console.log(json ? toJson(found) : `Node.js ${about.machine.node}, Redis ${about.machine.redis}`)
  return failures > 0 ? 1 : 0
}

function checkDocs(): number {
  const outdated = outdatedDocs(benchmarks.keys())
  if (outdated.length === 0) return 0
  console.error(`${outdated.join(' and ')}: expected what bench/results/ says, got something else.`)
  console.error('Run `npm run bench -- --docs`.')
  return 1
}
