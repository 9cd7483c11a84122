// What the page shows, kept while the lab runs, whether or not anybody looks: the lab tells and is
// never asked for anything in return. Bounded, since free play may go on for days.

import { wallClock } from '../api/messages.ts'
import type { ContenderId } from '../contenders/contender.ts'
import type { FaultRow } from '../faults/fault-row.ts'
import type { LoadProgress } from '../load/start-generator.ts'
import { type Trace, traceOf } from '../report/measures.ts'
import type { Result } from '../report/result.ts'
import { type Figures, figuresOf } from '../run/figures.ts'
import type { ContenderRun } from '../run/contender-run.ts'
import { GrowingTrace } from './growing-trace.ts'
import { lookAt, type Now } from './now.ts'
import type { Scene } from './scene.ts'

export interface Happening {
  readonly id: number
  /** Milliseconds since the lab began. */
  readonly atMs: number
  readonly text: string
}

export type FaultState =
  | { readonly kind: 'to come' | 'running'; readonly name: string }
  | { readonly kind: 'done'; readonly row: FaultRow }

export interface LiveState {
  readonly mode: 'run' | 'play'
  readonly phase: string
  readonly setting: string
  readonly contenders: readonly ContenderId[]
  readonly traces: ReadonlyMap<ContenderId, Trace>
  readonly now: Now | undefined
  readonly faults: readonly FaultState[]
  readonly figures: readonly Figures[]
  readonly happenings: readonly Happening[]
  readonly result: Result | undefined
}

const mostHappenings = 200
const rateWindow = 6 // of the generator's reports: about a second

export class LiveRecord {
  readonly mode: LiveState['mode']
  readonly #beganAt = wallClock()
  #phase = 'starting'
  #setting = ''
  #contenders: readonly ContenderId[] = []
  readonly #traces = new Map<ContenderId, Trace>()
  readonly #figures: Figures[] = []
  readonly #faults: FaultState[] = []
  readonly #happenings: Happening[] = []
  #told = 0
  #scene: Scene | undefined
  #growing: GrowingTrace | undefined
  #loads: LoadProgress[] = []
  #result: Result | undefined

  constructor(mode: LiveState['mode']) {
    this.mode = mode
  }

  get scene(): Scene | undefined {
    return this.#scene
  }

  phase(text: string): void {
    this.#phase = text
  }

  planned(plan: {
    setting: string
    contenders: readonly ContenderId[]
    faults: readonly string[]
  }): void {
    this.#setting = plan.setting
    this.#contenders = plan.contenders
    this.#faults.push(...plan.faults.map((name) => ({ kind: 'to come', name }) as const))
  }

  happened(text: string): void {
    this.#told++
    this.#happenings.push({ id: this.#told, atMs: wallClock() - this.#beganAt, text })
    if (this.#happenings.length > mostHappenings) this.#happenings.shift()
  }

  sceneBegan(scene: Scene): void {
    this.#scene = scene
    this.#loads = []
    this.#growing = scene.kind === 'fault' ? undefined : new GrowingTrace(scene)
    this.#phase = scene.title
    this.happened(`${scene.title}: under load`)
  }

  load(progress: LoadProgress): void {
    this.#growing?.load(progress)
    this.#loads.push(progress)
    if (this.#loads.length > rateWindow) this.#loads.shift()
  }

  pressed(text: string): void {
    this.#growing?.mark(wallClock())
    this.happened(text)
  }

  sceneEnded(): void {
    this.#draw(wallClock())
    this.#scene = undefined
    this.#growing = undefined
    this.#phase = 'making ready for what comes next'
  }

  contenderEnded(run: ContenderRun, said: string): void {
    const [, ...presses] = this.#traces.get(run.contender)?.marks ?? []
    this.#traces.set(run.contender, traceOf(run, presses))
    this.#figures.push(figuresOf(run))
    this.happened(said)
  }

  faultBegan(name: string): void {
    this.#setFault({ kind: 'running', name })
  }

  faultEnded(row: FaultRow): void {
    this.#setFault({ kind: 'done', row })
    this.happened(`${row.name}: ${row.outcome}`)
  }

  ended(text: string, result?: Result): void {
    this.sceneEnded()
    this.#phase = text
    this.#result = result
    this.happened(text)
  }

  state(): LiveState {
    const at = wallClock()
    this.#draw(at)
    return {
      mode: this.mode,
      phase: this.#phase,
      setting: this.#setting,
      contenders: this.#contenders,
      traces: this.#traces,
      now: this.#scene === undefined ? undefined : lookAt(this.#scene, this.#loads, at),
      faults: this.#faults,
      figures: this.#figures,
      happenings: this.#happenings,
      result: this.#result,
    }
  }

  #draw(at: number): void {
    if (this.#scene === undefined || this.#growing === undefined) return
    this.#traces.set(this.#scene.contender, this.#growing.at(at))
  }

  #setFault(next: FaultState): void {
    const name = next.kind === 'done' ? next.row.name : next.name
    const at = this.#faults.findIndex(
      (fault) => (fault.kind === 'done' ? fault.row.name : fault.name) === name,
    )
    if (at >= 0) this.#faults[at] = next
  }
}
