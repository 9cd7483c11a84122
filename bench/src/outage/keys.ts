// Which key a request is for. `cold`: every other request asks for a key that nobody has asked for,
// and the ones between for what the next process asked for first half a second ago: they find it in
// Redis, or there was no Redis.

import { keysOf, processes, type WorkerPlan } from './plan.ts'

const lagMs = 500

export function keyAt(plan: WorkerPlan, n: number): string {
  if (plan.situation !== 'cold') {
    return `key-${Math.floor(Math.random() * keysOf[plan.situation])}`
  }
  if (n % 2 === 0) return `cold-${plan.process}-${n}`
  const slots = Math.ceil(((lagMs / 1_000) * plan.perSecond) / 2) * 2
  const first = n - 1 - slots
  return first < 0 ? `cold-${plan.process}-${n}` : `cold-${(plan.process + 1) % processes}-${first}`
}

/** With memory: all, in each process. Without: its share. */
export function keysToWarm({ situation, process }: WorkerPlan): string[] {
  const all = Array.from({ length: keysOf[situation] }, (_, n) => `key-${n}`)
  return situation === 'warm' ? all : all.filter((_, n) => n % processes === process)
}
