// From when queries ran to the work in them: what each would have taken alone, at a source whose
// places are shared by all that run.

import type { Contender, LabRun, LabSetting } from './read-lab.ts'
import type { LoadTimes } from '../model/load-times.ts'

/** Queries that the database answers at full speed: those per second, times what one takes alone. */
export function placesOf({ queryMs, queriesPerSecond }: LabSetting): number {
  return Math.max(1, (queryMs / 1000) * queriesPerSecond)
}

/**
 * What a contender's queries took, one after the other: a machine is not always as quick, and which of
 * them was slow is chance that the model is told and need not guess. Of one that was not seen to end
 * it is unknown; then any of the contender's, else of all, else what calibration found.
 */
export function loadTimesOf(run: LabRun, contender: Contender): LoadTimes {
  const { setting, contenders } = run
  const inOrderMs = workDone(contender, setting)
  const [own, all] = [[contender], contenders].map((some) =>
    some.flatMap((one) => workDone(one, setting)).filter((work) => work !== undefined),
  )
  const known = [own!, all!, [setting.queryMs]].find((some) => some.length > 0)!
  return { kind: 'replayed', inOrderMs, sortedMs: sorted(known) }
}

export function measured(ms: readonly number[]): LoadTimes {
  return { kind: 'measured', sortedMs: sorted(ms.map((one) => Math.max(0, one))) }
}

function sorted(ms: readonly number[]): readonly number[] {
  return [...ms].sort((a, b) => a - b)
}

function workDone({ ran, lastAnswerMs }: Contender, setting: LabSetting): (number | undefined)[] {
  const places = placesOf(setting)
  const instants = ran.flatMap(([began, ms]) => [began, began + ms]).sort((a, b) => a - b)
  return ran.map(([began, ms]) => {
    if (began + ms > lastAnswerMs - 1) return undefined
    const inside = instants.filter((at) => at >= began && at <= began + ms)
    return inside.slice(1).reduce((work, to, n) => {
      const from = inside[n]!
      const middle = (from + to) / 2
      const running = ran.filter(([one, oneMs]) => one < middle && one + oneMs > middle).length
      return work + (to - from) * Math.min(1, places / Math.max(1, running))
    }, 0)
  })
}
