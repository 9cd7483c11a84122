/**
 * What must hold whatever fails: nobody who asks gets an error, nobody gets what is older than what
 * was promised to its own process, every load has a lease or a reason, the source is never asked by
 * more than it is allowed. Returns what did not hold, in words.
 */
import type { Fleet } from './fleet.ts'
import { placesAtSource, type Figures, type ReadAnswer, type Resources } from './messages.ts'

export function findings(all: readonly Figures[]): string[] {
  return all.flatMap((it, place) => {
    const found = [
      ...it.errors.map((error) => `an error: ${error}`),
      ...it.staleReads.map((read) => `a promise broken: ${read}`),
    ]
    if (it.runs > it.leases + it.unleased) {
      found.push(`${it.runs} loads by ${it.leases} leases and ${it.unleased} counted without one`)
    }
    if (it.mostLoads > placesAtSource) found.push(`${it.mostLoads} loads at once`)
    return found.map((text) => `process ${place}: ${text}`)
  })
}

let asked = 0

/**
 * All processes ask at once for what nobody has: one load, and the same answer for all. A process
 * that stalls for longer than `storeTimeout` loads by itself, and counts that.
 */
export async function oneLoad(fleet: Fleet): Promise<string[]> {
  const key = `herd-${++asked}-${Date.now()}`
  const before = unleasedReads(await fleet.figures())
  const answers = await fleet.all((member) =>
    member.order<ReadAnswer>({ kind: 'read', key, ms: 50 }),
  )
  const counted = unleasedReads(await fleet.figures()) - before
  const loads = await fleet.source.loadsOf(key)
  const failed = answers.filter(({ error }) => error !== undefined)
  const versions = new Set(answers.map(({ value }) => value))
  return [
    ...(loads <= 1 + counted ? [] : [`${loads} loads of one key, ${counted} without a lease`]),
    ...(versions.size === 1 ? [] : [`answers of ${versions.size} kinds for one key`]),
    ...failed.map(({ error }) => `an error: ${error}`),
  ]
}

function unleasedReads(all: readonly Figures[]): number {
  return all.reduce((total, it) => total + it.unleasedReads, 0)
}

/** By as much a heap may differ after a collection: code that was compiled, buffers of sockets. */
export const heapTolerance = 2 * 1_048_576

export function leftBehind(before: Resources, after: Resources): string[] {
  const found: string[] = []
  if (after.heapUsed > before.heapUsed + heapTolerance) {
    found.push(`heap: ${before.heapUsed} before, ${after.heapUsed} after`)
  }
  for (const what of ['active', 'listeners'] as const) {
    const names = new Set([...Object.keys(before[what]), ...Object.keys(after[what])])
    for (const name of names) {
      const was = before[what][name] ?? 0
      const is = after[what][name] ?? 0
      if (is !== was) found.push(`${what}: ${was} ${name} before, ${is} after`)
    }
  }
  return found
}
