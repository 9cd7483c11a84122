/**
 * One history: a world is made as the plan says, everything in it happens, all is well again, and
 * then everybody must have the newest of everything, and end without a trace.
 */
import { Calls } from './calls.ts'
import { Changes } from './changes.ts'
import { ending } from './ending.ts'
import { Faults } from './faults.ts'
import type { Flaw } from './flaws.ts'
import { heardOf } from './heard-of.ts'
import { Judge, type Made } from './judge.ts'
import { Ledger } from './ledger.ts'
import { Load } from './load-watch.ts'
import { OutageWatch } from './outage-watch.ts'
import type { Plan } from './plan.ts'
import { Random } from './random.ts'
import { Server } from './server.ts'
import { shapes, type AnyShape } from './shapes.ts'
import { keyOf, SimulatedProcess, tagOf } from './simulated-process.ts'
import { Source } from './source.ts'
import { Timeline } from './timeline.ts'
import { Trace } from './trace.ts'
import { Verdict, type Violation } from './verdict.ts'

export interface Told {
  readonly violations: readonly Violation[]
  readonly figures: Readonly<Record<string, number>>
  readonly hash: string
  readonly trace: readonly string[] | undefined
}

export interface HistoryOptions {
  readonly flaw?: Flaw | undefined
  readonly keepsTrace?: boolean
}

/** This one, or the next: a process that is paused or gone begins nothing. */
function from(processes: readonly SimulatedProcess[], place: number): SimulatedProcess | undefined {
  const all = [...processes.slice(place), ...processes.slice(0, place)]
  return all.find(({ host, state }) => state === 'open' && !host.isPaused)
}

export async function runHistory(plan: Plan, options: HistoryOptions = {}): Promise<Told> {
  const { seed } = plan
  const { flaw } = options
  const timeline = new Timeline()
  const trace = new Trace(options.keepsTrace === true)
  const verdict = new Verdict(trace)
  const source = new Source()
  for (const of of plan.shapes) {
    const shape: AnyShape = shapes[of]
    for (let n = 0; n < plan.rowsPerShape; n++) {
      const arg = String(n)
      const { tagged } = shape
      const tag = tagged === undefined ? '' : tagOf(tagged === 'all' ? '0' : arg)
      source.add({ of, arg, key: keyOf(of, arg), tag, hasFixedTag: tagged === 'all' })
    }
  }
  const changes = new Changes(source)
  const ledger = new Ledger(source, changes, verdict)
  const judge = new Judge({ timeline, source, changes, verdict, trace })
  const weather = { latencyMs: plan.latencyMs, jitterMs: plan.latencyMs, lateMs: 0 }
  const all: SimulatedProcess[] = []
  const processes: SimulatedProcess[] = []
  const hanging = new Set<() => void>()
  const server = new Server({
    timeline,
    skewMs: new Random(seed, 'server').between(-1, 1) * plan.skewMs,
    watch: ledger,
    tell: (client, message) => {
      if (flaw?.loses?.(message) !== true) all[client]?.bus.push(message)
    },
    wrong: flaw?.server,
    isReplicated: plan.faults.some(({ kind }) => kind === 'failover'),
  })
  const open = new Set<Made>()
  const { latencyMs } = plan
  const outages = new OutageWatch({ timeline, verdict, server, latencyMs, open })
  const calls = new Calls({ timeline, source, judge, outages, open })
  const begin = (place: number): void => {
    const id = all.length
    const load: Load = new Load({
      timeline,
      verdict,
      began: (row, origin, previous) => {
        trace.add(timeline.now, () => `p${id} loads ${row.key} ${origin.id} v${origin.version}`)
        if (previous !== undefined) judge.previous(process, row, origin, previous)
      },
    })
    const process: SimulatedProcess = new SimulatedProcess({
      id,
      seed,
      timeline,
      source,
      server,
      weather,
      manners: plan,
      shapes: plan.shapes,
      hasBus: plan.hasBus,
      skewMs: plan.skewMs,
      loads: load,
      hanging,
      heard: (message, sentAt) => {
        trace.add(timeline.now, () => `p${id} heard ${message.type}`)
        const ears = { source, changes, process: id, now: timeline.now }
        heardOf(ears, message, sentAt)
      },
      misused: (operation) => {
        verdict.violated('I7', timeline.now, `p${id} asked for ${operation} after its end`)
      },
      flaw,
    })
    all.push(process)
    processes[place] = process
  }
  for (let place = 0; place < plan.processes; place++) begin(place)
  const faults = new Faults({
    timeline,
    server,
    source,
    weather,
    verdict,
    processes,
    replace: begin,
    close: (process) => ending.close({ timeline, verdict }, process),
  })
  for (const command of plan.commands) {
    timeline.at(command.at, () => {
      const process = from(processes, command.process)
      if (process !== undefined) calls.make(process, command)
    })
  }
  let over = 0
  for (const { at } of plan.commands) over = Math.max(over, at)
  for (const fault of plan.faults) {
    over = Math.max(over, fault.at + fault.ms + 1)
    timeline.at(fault.at, () => faults.begin(fault))
  }
  const unhandled = (error: unknown): void => {
    verdict.violated('I7', timeline.now, `an unhandled rejection: ${String(error)}`)
  }
  process.on('unhandledRejection', unhandled)
  const restore = flaw?.engine?.()
  try {
    await timeline.runUntil(over)
    faults.heal()
    await ending.converge({ timeline, verdict, source, calls, processes })
    await ending.closeAll({ timeline, verdict, processes: all, ledger, calls })
  } finally {
    restore?.()
    verdict.isOver = true
    for (const end of hanging) end()
    // What these set off comes to rest.
    await timeline.runUntil(timeline.now)
    process.off('unhandledRejection', unhandled)
  }
  verdict.count('events', timeline.events)
  verdict.count('seconds', Math.round(timeline.now / 1_000))
  verdict.count('processes', all.length)
  const { violations, figures } = verdict
  return { violations, figures, hash: trace.hash, trace: trace.lines }
}
