// `breakwater simulate`: its options, their checks, and what is printed. The model knows nothing of
// any of it.

import { writeFile } from 'node:fs/promises'
import { Command, type CommanderError } from 'commander'
import { compareWithLab } from './beside-lab/compare.ts'
import { readLab } from './beside-lab/read-lab.ts'
import { expected, Misuse } from './misuse.ts'
import { p99LoadMs } from './model/load-times.ts'
import { runStrategy } from './model/run-strategy.ts'
import type { Rules, Scenario, StrategyId } from './model/scenario.ts'
import { addOptions, examples, type Given } from './options.ts'
import { recommend, type Recommendation, type Targets } from './recommend.ts'
import { adviceText } from './report/advice.ts'
import { comparisonText } from './report/comparison.ts'
import { page } from './report/page.ts'
import { terminalText, wrapped } from './report/terminal.ts'
import { notes, scenarioText } from './report/words.ts'
import { rulesOf, scenarioOf, seedOf, strategiesOf, targetsOf } from './settings.ts'

const exitCodes = { done: 0, differs: 1, misuse: 2 } as const

export function simulateCommand(): Command {
  const command = addOptions(new Command('simulate'))
    .description(
      'what a cache would do: a model on a virtual clock, of keys, processes and a source',
    )
    .addHelpText('after', examples)
    .exitOverride((error: CommanderError) => {
      process.exit(error.exitCode === 0 ? exitCodes.done : exitCodes.misuse)
    })
  return command.action(async () => {
    try {
      process.exitCode = await simulate(command.optsWithGlobals<Given>())
    } catch (error) {
      if (!(error instanceof Misuse)) throw error
      process.stderr.write(`${error.message}\n`)
      process.exitCode = exitCodes.misuse
    }
  })
}

async function simulate(given: Given): Promise<number> {
  const targets = targetsOf(given)
  if (given.lab !== undefined) {
    if (given.html === undefined && given.recommend !== true) return compare(given)
    throw expected('--lab', 'it alone, or with --seed and --json', given.html ?? '--recommend')
  }
  const [scenario, rules] = [await scenarioOf(given), rulesOf(given)]
  const strategies = strategiesOf(given)
  const figures = strategies.map((id) => {
    progress(`simulating ${id} …`)
    return runStrategy(id, scenario, ownRules(id, rules))
  })
  const advice = given.recommend === true ? advise(scenario, rules, targets) : undefined
  progress('')
  const said = notes(figures, 10 * p99LoadMs(scenario.load))
  if (given.html !== undefined) {
    const html = page({
      scenario: scenarioText(scenario, rules),
      figures,
      notes: said,
      advice: advice && adviceText(advice),
    })
    await writeFile(given.html, html).catch((error: Error) => {
      throw expected('--html', 'a file that can be written', error.message)
    })
  }
  if (given.json === true) {
    const { shares, ...world } = scenario
    write(
      JSON.stringify(
        { scenario: { ...world, keys: shares.length }, rules, figures, advice },
        finite,
        2,
      ),
    )
    return exitCodes.done
  }
  const terminal = { width: process.stdout.columns ?? 80, colour: wantsColour(given) }
  const paragraphs = [scenarioText(scenario, rules), ...said].map((text) =>
    wrapped(text, terminal.width).join('\n'),
  )
  write(
    [...paragraphs, terminalText(figures, terminal), ...(advice ? [adviceText(advice)] : [])].join(
      '\n\n',
    ),
  )
  return exitCodes.done
}

function advise(scenario: Scenario, rules: Rules, targets: Targets): Recommendation {
  progress('trying settings …')
  return recommend(scenario, rules, targets)
}

async function compare(given: Given): Promise<number> {
  const runs = await Promise.all(given.lab!.map(readLab))
  const comparisons = compareWithLab(runs, seedOf(given))
  write(
    given.json === true
      ? JSON.stringify({ runs: runs.length, comparisons }, null, 2)
      : comparisonText(comparisons, runs.length),
  )
  const agree = comparisons.every(({ agrees }) => agrees.loads && agrees.p95)
  return agree ? exitCodes.done : exitCodes.differs
}

/** The recipes know neither jitter nor memory. */
function ownRules(id: StrategyId, rules: Rules): Rules {
  return id === 'breakwater' ? rules : { ...rules, jitter: 0 }
}

function write(text: string): void {
  process.stdout.write(`${text}\n`)
}

/** On one line, and only where somebody looks. */
function progress(text: string): void {
  if (process.stderr.isTTY === true) process.stderr.write(`\r\u001b[K${text}`)
}

/** JSON has no infinity: an unlimited number is null. */
function finite(_: string, value: unknown): unknown {
  return value === Infinity ? null : value
}

function wantsColour({ color }: Given): boolean {
  return color && (process.env['NO_COLOR'] ?? '') === '' && process.stdout.isTTY === true
}
