// Interleaved runs of two or three sides in one process: each round times one batch of every side,
// in an order that turns, and what counts is the ratio of two batches of one round. What disturbs
// the machine for longer than a round then disturbs all sides alike.

export interface Side {
  readonly name: string
  run(operations: number): Promise<void>
}

export interface Timing {
  /** Wall time of one operation, per round. */
  readonly wallUs: number[]
  /** Processor time of this process for one operation, all its threads, per round. */
  readonly cpuUs: number[]
}

export interface Effort {
  readonly rounds: number
  /** How long each side runs before anything is timed, so that its code is compiled. */
  readonly warmUpMs: number
  /** How long a batch should take: each side does as many operations as that. */
  readonly batchMs: number
}

export type Timings = Readonly<Record<string, Timing>>

export async function interleave(sides: readonly Side[], effort: Effort): Promise<Timings> {
  const batches = new Map<Side, number>()
  for (const side of sides) batches.set(side, await calibrate(side, effort))
  const timings: Record<string, Timing> = {}
  for (const { name } of sides) timings[name] = { wallUs: [], cpuUs: [] }
  // The first round is not counted: it is the first time that the sides take turns.
  for (let round = -1; round < effort.rounds; round += 1) {
    const turn = Math.abs(round) % sides.length
    for (const side of [...sides.slice(turn), ...sides.slice(0, turn)]) {
      const operations = batches.get(side) ?? 1
      globalThis.gc?.({ type: 'minor' })
      const cpu = process.cpuUsage()
      const began = performance.now()
      await side.run(operations)
      const wallMs = performance.now() - began
      const { user, system } = process.cpuUsage(cpu)
      if (round < 0) continue
      timings[side.name]?.wallUs.push((wallMs * 1_000) / operations)
      timings[side.name]?.cpuUs.push((user + system) / operations)
    }
  }
  return timings
}

/** Runs ever larger batches until the side is warm; the last one tells how many make a batch. */
async function calibrate(side: Side, { warmUpMs, batchMs }: Effort): Promise<number> {
  const began = performance.now()
  for (let operations = 1; ;) {
    const from = performance.now()
    await side.run(operations)
    const tookMs = performance.now() - from
    if (tookMs < batchMs / 2) operations *= 2
    else if (performance.now() - began >= warmUpMs) {
      return Math.max(1, Math.round((operations * batchMs) / tookMs))
    }
  }
}
