import { readLab } from './what-if/lab/read-lab.ts'
import { labModel } from './what-if/lab/lab-model.ts'
import { runStrategy } from './what-if/model/run-strategy.ts'
const run = await readLab(process.argv[2]!)
const c = run.contenders.find((c) => c.id === process.argv[3])!
console.log(c.ran.slice(0, 9), c.queries, c.loadsPerExpiry, c.p95Ms)
for (let seed = 1; seed < 9; seed++) {
  const m = labModel(run, c, seed)
  const f = runStrategy(m.strategy, m.scenario, m.rules)
  console.log(
    f.loads,
    f.expiries,
    f.mostAtOnce,
    f.latency,
    f.requests,
    f.staleShare,
    f.waitedShare,
    f.errorShare,
    f.outdated,
  )
}
