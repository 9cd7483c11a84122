// The query takes several times as long as the lease. A lease that is not renewed would be taken by
// the next caller, and the next: one query per lease. breakwater renews it while the query runs.

import { inSeconds, plural } from '../report/wording.ts'
import { overlaps } from '../run/figures.ts'
import { row } from './fault-row.ts'
import { type Fault, underLoad } from './fault.ts'

const name = 'the query outlasts the lease'

export const queryOutlastsLease: Fault = {
  name,
  async run(stage) {
    const { shortLeaseMs } = stage.plan.faults
    const { fleet, answers } = await underLoad(
      stage,
      {
        name,
        use: 'query-outlasts-lease',
        leaseMs: shortLeaseMs,
        processes: stage.redis === undefined ? 1 : stage.plan.processes,
      },
      (running) => running.nextQuery(),
    )
    const hot = answers.filter(({ endpoint }) => endpoint === 'hot')
    const failed = hot.filter(({ error }) => error !== undefined).length
    const [first] = fleet.queries
    const tookMs = first?.endedAt === undefined ? Number.NaN : first.endedAt - first.beganAt
    return row(name, '1 query, its value for everyone, no error', [
      {
        text: `${plural(fleet.queries.length, 'query', 'queries')} of ${inSeconds(tookMs)} under a lease of ${inSeconds(shortLeaseMs)}`,
        ok: fleet.queries.length === 1 && overlaps(fleet.queries).mostAtOnce === 1,
      },
      { text: `${failed} of ${hot.length} callers failed`, ok: failed === 0 && hot.length > 0 },
    ])
  },
}
