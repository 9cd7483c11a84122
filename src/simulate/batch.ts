/** Many histories, one after the other, and what was seen in all of them. */
import { runHistory } from './history.ts'
import { planOf, type Extent } from './plan.ts'
import type { Violation } from './verdict.ts'

export interface Wrong {
  readonly seed: number
  readonly violations: readonly Violation[]
}

export interface Summary {
  histories: number
  readonly figures: Record<string, number>
  readonly wrong: Wrong[]
}

export async function runBatch(seeds: Iterable<number>, extent: Extent): Promise<Summary> {
  const summary: Summary = { histories: 0, figures: {}, wrong: [] }
  for (const seed of seeds) {
    const { violations, figures } = await runHistory(planOf(seed, extent))
    summary.histories++
    for (const [name, n] of Object.entries(figures)) {
      summary.figures[name] = (summary.figures[name] ?? 0) + n
    }
    if (violations.length > 0) summary.wrong.push({ seed, violations })
  }
  return summary
}

export function added(summaries: readonly Summary[]): Summary {
  const all: Summary = { histories: 0, figures: {}, wrong: [] }
  for (const { histories, figures, wrong } of summaries) {
    all.histories += histories
    for (const [name, n] of Object.entries(figures))
      all.figures[name] = (all.figures[name] ?? 0) + n
    all.wrong.push(...wrong)
  }
  all.wrong.sort((a, b) => a.seed - b.seed)
  return all
}
