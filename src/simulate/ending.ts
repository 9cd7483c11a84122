/** The end of a history: everybody gets the newest, and then nothing is left behind. */
import type { Calls } from './calls.ts'
import type { Ledger } from './ledger.ts'
import type { SimulatedProcess } from './simulated-process.ts'
import type { Source } from './source.ts'
import type { Timeline } from './timeline.ts'
import type { Verdict } from './verdict.ts'

/** What was unanswered is given up, what was missed repeated, and each process proves its ears. */
const settleMs = 8_500
const betweenMs = 1_500
/** Until every call has been given up. */
const patienceMs = 9_000
const closeMs = 6_000

interface Ends {
  readonly timeline: Timeline
  readonly verdict: Verdict
}

interface Convergence extends Ends {
  readonly source: Source
  readonly calls: Calls
  readonly processes: readonly SimulatedProcess[]
}

interface Closing extends Ends {
  readonly processes: readonly SimulatedProcess[]
  readonly ledger: Ledger
  readonly calls: Calls
}

async function converge(options: Convergence): Promise<void> {
  const { timeline, verdict, source, calls, processes } = options
  await timeline.runUntil(timeline.now + settleMs)
  for (const process of processes) {
    const health = process.cache.health()
    if (health.status !== 'ok')
      verdict.violated('end', timeline.now, `p${process.id}: ${JSON.stringify(health)}`)
  }
  // Twice: a load that fails says nothing, and those who ask later find what the first have stored.
  for (let turn = 0; turn < 2; turn++) {
    await timeline.runUntil(timeline.now + betweenMs)
    for (const process of processes) for (const row of source.rows) calls.makeLast(process, row)
  }
  await timeline.runUntil(timeline.now + patienceMs)
  for (const { process, verb, rows, id } of calls.open) {
    if (process.state === 'crashed') continue
    const text = `p${process.id} #${id} ${verb} ${rows[0]!.key} never settled`
    verdict.violated('I4', timeline.now, text)
  }
}

function close({ timeline, verdict }: Ends, process: SimulatedProcess): void {
  process.state = 'closing'
  const begunAt = timeline.now
  const { host, cache } = process
  const pausedMs = host.pausedMs
  void cache.close().then(() => {
    process.state = 'closed'
    const tookMs = timeline.now - begunAt - (host.pausedMs - pausedMs)
    if (tookMs > closeMs)
      verdict.violated('I7', timeline.now, `p${process.id}: close() took ${tookMs} ms`)
    // Timers of this very turn may still be on their way out.
    timeline.after(1, () => {
      if (host.timers > 0)
        verdict.violated('I7', timeline.now, `p${process.id}: ${host.timers} timers after its end`)
    })
  })
}

async function closeAll({ timeline, verdict, processes, ledger, calls }: Closing): Promise<void> {
  for (const process of processes) {
    judgeLoads(verdict, timeline, process, ledger)
    if (process.state === 'open') close({ timeline, verdict }, process)
  }
  await timeline.runUntil(timeline.now + closeMs + 1_000)
  for (const { state, id } of processes) {
    if (state === 'closing') verdict.violated('I7', timeline.now, `p${id}: close() never settled`)
  }
  for (const { process, id } of calls.open) {
    if (process.state === 'crashed') continue
    verdict.violated('I7', timeline.now, `p${process.id} #${id} outlived its cache`)
  }
}

/** I1: every load had a lease, or says why not; and nobody counts a lease that was not granted. */
function judgeLoads(
  verdict: Verdict,
  timeline: Timeline,
  process: SimulatedProcess,
  ledger: Ledger,
): void {
  let leases = 0
  let unleased = 0
  for (const one of Object.values(process.cache.counters())) {
    leases += one.leases
    unleased += one.unleasedWaited + one.unleasedStore + one.unleasedNolease
    unleased += one.unleasedUncacheable + one.unleasedPrivate + one.unleasedLocal
  }
  const { total } = process.loads
  const granted = ledger.grants.get(process.id) ?? 0
  verdict.count('unleased', unleased)
  if (total > leases + unleased || leases > granted) {
    const text = `p${process.id}: ${total} loads, ${leases} leases of ${granted}, ${unleased} without`
    verdict.violated('I1', timeline.now, text)
  }
}

export const ending = { converge, close, closeAll }
