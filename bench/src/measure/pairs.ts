// Interleaved runs of several sides: each round times one batch of every side, in an order that
// turns, and what counts is the ratio of two batches of one round. What disturbs the machine for
// longer than a round then disturbs both sides alike.

export interface Side {
  readonly name: string
  /** One batch of a known number of operations. */
  batch(): Promise<void>
}

export interface Timing {
  /** Wall time of a batch, per round. */
  readonly wallMs: number[]
  /** Processor time of this process during a batch, all threads, per round. */
  readonly cpuMs: number[]
}

export async function interleave(
  sides: readonly Side[],
  plan: { readonly rounds: number; readonly warmUp: number },
): Promise<Map<string, Timing>> {
  const timings = new Map(sides.map(({ name }) => [name, { wallMs: [], cpuMs: [] } as Timing]))
  for (let round = -plan.warmUp; round < plan.rounds; round += 1) {
    const turn = Math.abs(round) % sides.length
    for (const side of [...sides.slice(turn), ...sides.slice(0, turn)]) {
      globalThis.gc?.({ type: 'minor' })
      const cpu = process.cpuUsage()
      const began = performance.now()
      await side.batch()
      const wallMs = performance.now() - began
      const { user, system } = process.cpuUsage(cpu)
      if (round < 0) continue
      timings.get(side.name)?.wallMs.push(wallMs)
      timings.get(side.name)?.cpuMs.push((user + system) / 1_000)
    }
  }
  return timings
}

/** Per round: how quick `side` is beside `base`; 1 is as quick, 0.5 takes twice as long. */
export function ratios(base: readonly number[], side: readonly number[]): number[] {
  return base.map((ms, round) => ms / (side[round] ?? Number.NaN))
}
