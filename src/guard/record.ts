/** What is written down of a shared filter, as it was read. */
import { readEpoch, type Epoch } from './epoch.ts'

export interface GuardRecord {
  /** When it was asked for, by this process's clock: what happened later may not be in it. */
  readonly askedAt: number
  /** Who answers; `undefined`: nobody, so that everything may exist. */
  readonly current: Epoch | undefined
  /** What is being built. Whoever adds, adds to it too. */
  readonly next: Epoch | undefined
  /** The builder of `next` has not been heard of in time. */
  readonly isNextForsaken: boolean
  /** Nobody's any more, but their shards may still be there, and may still be asked. */
  readonly old: readonly OldEpoch[]
  /** It was built once. */
  readonly wasBuilt: boolean
  /** There is an epoch of a version that this one cannot read. */
  readonly isNewer: boolean
}

export interface OldEpoch {
  readonly id: string
  readonly epoch: Epoch | undefined
  /** How long it has been old, in ms of the store. */
  readonly ageMs: number
}

export function readRecord(reply: unknown, askedAt: number): GuardRecord {
  const [ms, list] = reply as readonly [unknown, readonly unknown[]]
  const now = Number(ms)
  const fields = new Map<string, string>()
  for (let at = 0; at + 1 < list.length; at += 2) fields.set(text(list[at]), text(list[at + 1]))
  const epochOf = (field: string) => {
    const said = fields.get(field)
    return said === undefined ? undefined : readEpoch(said)
  }
  const current = epochOf('current')
  const next = epochOf('next')
  return {
    askedAt,
    current,
    next,
    isNextForsaken: fields.has('nextId') && Number(fields.get('nextUntil')) < now,
    old: [...fields].flatMap(([field, value]) => oldEpoch(field, value, now)),
    wasBuilt: fields.has('built'),
    isNewer:
      (current === undefined && fields.has('current')) ||
      (next === undefined && fields.has('next')),
  }
}

/** All that additions go into. */
export function listedIn({ current, next, old }: GuardRecord): Epoch[] {
  return [current, next, ...old.map(({ epoch }) => epoch)].filter((epoch) => epoch !== undefined)
}

function oldEpoch(field: string, value: string, now: number): OldEpoch[] {
  if (!field.startsWith('old:')) return []
  const space = value.indexOf(' ')
  const epoch = readEpoch(value.slice(space + 1))
  return [{ id: field.slice(4), epoch, ageMs: now - Number(value.slice(0, space)) }]
}

function text(value: unknown): string {
  return typeof value === 'string' ? value : Buffer.from(value as Uint8Array).toString()
}
