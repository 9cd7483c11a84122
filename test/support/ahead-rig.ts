// Processes in virtual time on one memory store, whose values are made ahead: what each has loaded, and when.

import { createCache, type Cache, type CacheOptions, type Precompute } from '../../src/index.ts'
import type { LoadReason, RefreshAlert } from '../../src/index.ts'
import { faultyStore, manualClock, memoryStore } from '../../src/testing/index.ts'

export interface Loaded {
  readonly process: number
  readonly id: string
  readonly at: number
  readonly reason: LoadReason
  readonly hasPrevious: boolean
}

export interface Value {
  readonly id: string
  readonly n: number
}

type Options = Partial<CacheOptions> & { readonly alone?: boolean }

/** Draws that differ, and are the same in each run. */
function draws(seed: number): () => number {
  let state = seed
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state / 0x1_0000_0000
  }
}

export function aheadRig({ seed = 1 } = {}) {
  const clock = { ...manualClock(), random: draws(seed) }
  const begun = clock.now()
  const inner = memoryStore()
  const loads: Loaded[] = []
  const alerts: RefreshAlert[] = []
  const source = {
    ms: 20,
    fails: undefined as Error | undefined,
    answer: (id: string): unknown => ({ id, n: loads.length }),
  }
  let processes = 0
  const pause = (ms: number): Promise<void> => new Promise((r) => void clock.after(ms, r))
  const since = (): number => clock.now() - begun

  /** One process with the definition `item`. */
  function process(
    precompute: Partial<Precompute<string, Value>> & object,
    { alone = false, ...options }: Options = {},
    more: object = {},
  ) {
    const number = processes++
    const store = faultyStore(inner)
    const cache: Cache = createCache({
      namespace: 'test',
      ttl: '3m',
      clock,
      ...(alone ? {} : { store }),
      ...options,
    })
    const item = cache.define<string, Value>({
      name: 'item',
      async load(id, ctx) {
        const { reason, previous } = ctx
        loads.push({
          process: number,
          id,
          at: since(),
          reason,
          hasPrevious: previous !== undefined,
        })
        if (source.ms > 0) await pause(source.ms)
        if (source.fails !== undefined) throw source.fails
        return source.answer(id) as Value
      },
      precompute: { every: '60s', args: ['a', 'b'], onMiss: 'wait', ...precompute } as never,
      ...more,
    })
    cache.on('alert', (alert) => alerts.push(alert))
    return { cache, item, store, number }
  }

  /** In small steps, so that what one of them sets off is done in its own time. */
  async function run(ms: number, stepMs = 50): Promise<void> {
    for (let left = ms; left > 0; left -= stepMs) await clock.advance(Math.min(stepMs, left))
  }

  const of = (id: string): readonly Loaded[] => loads.filter((load) => load.id === id)
  return { clock, loads, alerts, source, process, run, of, pause, since }
}

/** Times between one load and the next. */
export function gaps(loads: readonly Loaded[]): readonly number[] {
  return loads.slice(1).map(({ at }, n) => at - loads[n]!.at)
}
