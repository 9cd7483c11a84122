// The lab's figures and the model's, side by side.

import { mayDiffer, type Comparison } from '../beside-lab/compare.ts'
import { aligned } from './terminal.ts'
import { countText, durationText } from './units.ts'

export function comparisonText(all: readonly Comparison[], runs: number): string {
  const verdict = ({ agrees }: Comparison): string => {
    if (agrees.loads && agrees.p95) return 'agrees'
    if (agrees.loads) return 'p95 differs'
    return agrees.p95 ? 'loads differ' : 'both differ'
  }
  const both = (text: (n: number) => string, lab: number, model: number): string[] => [
    text(lab),
    text(model),
  ]
  const rows = all.map((one) => [
    one.contender,
    ...both(countText, one.lab.loads, one.model.loads),
    ...both(countText, one.lab.loadsPerExpiry, one.model.loadsPerExpiry),
    ...both(durationText, one.lab.p95Ms, one.model.p95Ms),
    verdict(one),
  ])
  return [
    runs === 1
      ? 'One run of the lab, and the model'
      : `Medians of ${runs} runs of the lab, and the model`,
    '',
    ...aligned([['', 'loads', 'model', 'per expiry', 'model', 'p95', 'model', ''], ...rows]),
    '',
    `Agreed: loads within ${mayDiffer.loads}, p95 within ${mayDiffer.p95 * 100} %.`,
  ].join('\n')
}
