/**
 * What is to happen in one history, all of it chosen beforehand: so that a history can be replayed,
 * and made smaller by leaving out what does not matter.
 */
import { Random } from './random.ts'
import { lastingNames, shapeNames, type ShapeName } from './shapes.ts'

export type Verb =
  | 'lookup' | 'get' | 'getMany' | 'peek' | 'refresh'
  | 'invalidate' | 'set' | 'expire' | 'invalidateTags' | 'expireTags' | 'clear' | 'expireAll' // prettier-ignore

export interface Command {
  readonly at: number
  readonly process: number
  readonly verb: Verb
  readonly row: number
  /** Each of these three: only of reads, and only of some. */
  readonly timeoutMs?: number
  readonly abortMs?: number
  readonly maxAgeMs?: number
}

export const faultKinds = [
  'pause', 'crash', 'close', 'stall', 'cut', 'silence', 'cutBus', 'silenceBus', 'stallBus',
  'freeze', 'kill', 'failover', 'slow', 'refuse', 'evictFrame', 'evictLease', 'evictTags', 'corrupt',
] as const // prettier-ignore
export type FaultKind = (typeof faultKinds)[number]

export interface Fault {
  readonly at: number
  readonly ms: number
  readonly kind: FaultKind
  /** Of a fault of one process. */
  readonly process: number
  readonly row: number
  /** 0 ≤ n < 1: whatever else there is to choose. */
  readonly n: number
}

export interface Plan {
  readonly seed: number
  readonly processes: number
  readonly shapes: readonly ShapeName[]
  readonly rowsPerShape: number
  readonly hasBus: boolean
  readonly resends: boolean
  readonly queuesOffline: boolean
  readonly latencyMs: number
  readonly skewMs: number
  readonly commands: readonly Command[]
  readonly faults: readonly Fault[]
}

export interface Extent {
  readonly processes: number
  readonly operations: number
  readonly faults: number
}

const verbs: Readonly<Record<Verb, number>> = {
  lookup: 90, get: 20, getMany: 12, peek: 6, refresh: 5, invalidate: 22, set: 8, expire: 6,
  invalidateTags: 5, expireTags: 2, clear: 1.5, expireAll: 1,
} // prettier-ignore

const faults: Readonly<Record<FaultKind, number>> = {
  pause: 12, crash: 8, close: 4, stall: 6, cut: 8, silence: 5, cutBus: 6, silenceBus: 6, stallBus: 5,
  freeze: 8, kill: 5, failover: 8, slow: 5, refuse: 5, evictFrame: 3, evictLease: 4, evictTags: 3, corrupt: 4,
} // prettier-ignore

/** Long enough for every patience of a process to end in some of them. */
const faultMs: Partial<Readonly<Record<FaultKind, readonly [number, number]>>> = {
  pause: [20, 7_000],
  silence: [500, 12_000],
  cutBus: [20, 12_000],
  silenceBus: [500, 15_000],
  failover: [50, 3_000],
}

export function planOf(seed: number, extent: Extent): Plan {
  const random = new Random(seed, 'plan')
  const { processes } = extent
  const lasting = random.pick(lastingNames)
  const others = shapeNames
    .filter((name) => name !== lasting)
    .map((name) => [random.next(), name] as const)
    .sort(([a], [b]) => a - b)
    .slice(0, 1 + random.below(2))
    .map(([, name]) => name)
  const shapes = random.chance(0.5) ? [lasting, ...others] : [...others, lasting]
  const rowsPerShape = 1 + random.below(3)
  const rows = shapes.length * rowsPerShape
  const spanMs = extent.operations * random.between(30, 120)
  // Races need operations that meet: most of them come in bursts.
  const bursts = Array.from({ length: Math.ceil(extent.operations / 14) }, () =>
    random.between(0, spanMs),
  )
  const instant = (): number =>
    random.chance(0.25)
      ? random.between(0, spanMs)
      : random.pick(bursts) + random.next() ** 3 * random.pick([5, 60, 1_500])
  const row = (): number => Math.floor(random.next() ** 2 * rows)
  const commands = Array.from({ length: extent.operations }, (): Command => {
    const verb = random.weighted(verbs)
    const command = { at: instant(), process: random.below(processes), verb, row: row() }
    const mayHurry = verb === 'lookup' || verb === 'get' || verb === 'refresh'
    if (!mayHurry || random.chance(0.7)) return command
    return {
      ...command,
      ...(random.chance(0.4) ? { timeoutMs: random.pick([0, 5, 60, 800]) } : {}),
      ...(random.chance(0.4) ? { abortMs: random.pick([0, 2, 40, 700]) } : {}),
      ...(random.chance(0.4) ? { maxAgeMs: random.pick([0, 100, 2_000]) } : {}),
    }
  })
  const struck = Array.from({ length: extent.faults }, (): Fault => {
    const kind = random.weighted(faults)
    const [least, most] = faultMs[kind] ?? [20, 4_000]
    return {
      at: random.chance(0.5) ? random.pick(bursts) + random.between(-50, 100) : random.between(0, spanMs),
      ms: least + random.next() ** 2 * (most - least),
      kind,
      process: random.below(processes),
      row: row(),
      n: random.next(),
    } // prettier-ignore
  })
  return {
    seed,
    processes,
    shapes,
    rowsPerShape,
    hasBus: !random.chance(0.08),
    resends: random.chance(0.4),
    queuesOffline: random.chance(0.4),
    latencyMs: random.pick([0.05, 0.3, 2, 15]),
    skewMs: random.pick([0, 1_000, 600_000]),
    commands: commands.sort((a, b) => a.at - b.at),
    faults: struck.map((fault) => ({ ...fault, at: Math.max(0, fault.at) })),
  }
}
