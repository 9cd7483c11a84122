/**
 * `npm run simulate -- --histories 10000 --processes 5 --operations 200 --faults 3 --seed 1`; `--big`
 * for histories of 300 processes; `--replay SEED` runs one history, makes it as small as it still
 * goes wrong, and prints what happened. Ends with status 1 where an invariant was violated.
 */
import { availableParallelism } from 'node:os'
import { parseArgs } from 'node:util'
import { Worker } from 'node:worker_threads'
import { added, type Summary } from './batch.ts'
import { runHistory } from './history.ts'
import { planOf, type Extent } from './plan.ts'
import { printed, printedPlan, printedWrong } from './report.ts'
import { shrink } from './shrink.ts'
import type { Order } from './worker.ts'

const perOrder = 10

const { values } = parseArgs({
  options: {
    histories: { type: 'string' },
    processes: { type: 'string' },
    operations: { type: 'string' },
    faults: { type: 'string' },
    seed: { type: 'string', default: '1' },
    workers: { type: 'string', default: String(availableParallelism()) },
    replay: { type: 'string' },
    big: { type: 'boolean', default: false },
  },
})

const usual = values.big
  ? { histories: 20, processes: 300, operations: 3_000, faults: 12 }
  : { histories: 1_000, processes: 5, operations: 200, faults: 3 }
const number = (name: keyof typeof usual): number => {
  const given = values[name] === undefined ? usual[name] : Number(values[name])
  if (!Number.isSafeInteger(given) || given < 0) {
    throw new RangeError(`--${name}: expected a whole number, got ${values[name]}`)
  }
  return given
}
const extent: Extent = {
  processes: number('processes'),
  operations: number('operations'),
  faults: number('faults'),
}

process.exitCode = await (values.replay === undefined ? run() : replay(Number(values.replay)))

async function run(): Promise<number> {
  const begunAt = performance.now()
  const first = Number(values.seed)
  const seeds = Array.from({ length: number('histories') }, (_, n) => first + n)
  const size = Math.max(1, Math.min(perOrder, Math.floor(seeds.length / 8)))
  const orders: Order[] = []
  for (let n = 0; n < seeds.length; n += size)
    orders.push({ seeds: seeds.slice(n, n + size), extent })
  const workers = Math.min(Number(values.workers), orders.length)
  const summary = added(await Promise.all(Array.from({ length: workers }, () => work(orders))))
  console.log(printed(summary, extent, (performance.now() - begunAt) / 1_000))
  if (summary.wrong.length === 0) return 0
  await replay(summary.wrong[0]!.seed)
  return 1
}

/** One worker takes orders until there are none. */
function work(orders: Order[]): Promise<Summary> {
  const worker = new Worker(new URL('./worker.js', import.meta.url), {
    // Nearly all that a history makes is dead by its end.
    resourceLimits: { maxYoungGenerationSizeMb: 64 },
  })
  const done: Summary[] = []
  return new Promise((resolve, reject) => {
    const next = (): void => {
      const order = orders.shift()
      if (order === undefined) {
        void worker.terminate()
        resolve(added(done))
      } else worker.postMessage(order)
    }
    worker.on('message', (summary: Summary) => {
      done.push(summary)
      // At once: the rest may take minutes.
      for (const wrong of summary.wrong) console.error(printedWrong(wrong))
      next()
    })
    worker.on('error', reject)
    next()
  })
}

async function replay(seed: number): Promise<number> {
  const plan = planOf(seed, extent)
  const goesWrong = async (tried: typeof plan): Promise<boolean> =>
    (await runHistory(tried)).violations.length > 0
  const isWrong = await goesWrong(plan)
  const smallest = isWrong ? await shrink(plan, goesWrong) : plan
  const { violations, trace, hash } = await runHistory(smallest, { keepsTrace: true })
  console.log(printedPlan(smallest))
  console.log(trace!.join('\n'))
  console.log(`seed ${seed}, trace ${hash}`)
  if (isWrong) console.log(printedWrong({ seed, violations }))
  return isWrong ? 1 : 0
}
