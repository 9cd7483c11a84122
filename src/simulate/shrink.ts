/**
 * A plan that goes wrong, made as small as it still goes wrong: whole stretches of its commands and
 * faults are left out first, then smaller ones (delta debugging, Zeller and Hildebrandt, 2002).
 */
import type { Plan } from './plan.ts'

export async function shrink(
  plan: Plan,
  goesWrong: (plan: Plan) => Promise<boolean>,
): Promise<Plan> {
  let smallest = plan
  for (const part of ['faults', 'commands', 'faults'] as const) {
    let size = Math.ceil(smallest[part].length / 2)
    while (size > 0) {
      let from = 0
      let isSmaller = false
      while (from < smallest[part].length) {
        const rest = [...smallest[part].slice(0, from), ...smallest[part].slice(from + size)]
        const tried: Plan = { ...smallest, [part]: rest }
        if (await goesWrong(tried)) {
          smallest = tried
          isSmaller = true
        } else from += size
      }
      if (size === 1 && !isSmaller) break
      size = size === 1 ? 1 : Math.ceil(size / 2)
    }
  }
  return smallest
}
