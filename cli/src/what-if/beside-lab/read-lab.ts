// The figures that `npm start -- --json` printed. Only what the comparison needs is looked at, and a
// file that has it not is refused by name: an older lab's, say.

import { readFile } from 'node:fs/promises'
import { expected } from '../misuse.ts'

export const contenderIds = [
  'plain',
  'lock-retry',
  'lock-poll',
  'breakwater',
  'breakwater-swr',
  'breakwater-ahead',
] as const
export type ContenderId = (typeof contenderIds)[number]

export interface LabRun {
  readonly setting: LabSetting
  readonly contenders: readonly Contender[]
}

export interface LabSetting {
  readonly processes: number
  readonly connections: number
  /** The query alone, and how many of them the database manages, several at once. */
  readonly queryMs: number
  readonly queriesPerSecond: number
  readonly hotPerSecond: number
  readonly ttlMs: number
  readonly runMs: number
  readonly timeoutMs: number
}

export interface Contender {
  readonly id: ContenderId
  readonly queries: number
  readonly loadsPerExpiry: number
  readonly p95Ms: number
  readonly cachedAtMs: number
  readonly loadingUntilMs: number | undefined
  readonly writeBeganMs: number
  readonly lastAnswerMs: number
  /** [when it began, how long it ran] */
  readonly ran: readonly (readonly [number, number])[]
  readonly hitMs: readonly number[]
}

type Fields = Readonly<Record<string, unknown>>

const day = 86_400_000
const bounds = {
  processes: [1, 1_000_000],
  connections: [1, 1_000_000],
  queryMs: [0, day],
  queriesPerSecond: [0.001, 1e9],
  hotPerSecond: [0.001, 1e8],
  ttlMs: [1, day],
  runMs: [1, day],
  timeoutMs: [1, day],
} as const satisfies Record<keyof LabSetting, readonly [number, number]>
const settingNames = Object.keys(bounds) as (keyof LabSetting)[]

export async function readLab(file: string): Promise<LabRun> {
  const text = await readFile(file, 'utf8').catch((error: Error) => {
    throw expected('--lab', 'a file that can be read', `${file}: ${error.message}`)
  })
  const refuse = (what: string): never => {
    throw expected('--lab', `what \`npm start -- --json\` prints, with ${what}`, file)
  }
  const fieldsOf = (value: unknown, what: string): Fields =>
    typeof value === 'object' && value !== null ? (value as Fields) : refuse(what)
  const number = (fields: Fields, name: string): number => {
    const value = fields[name]
    return typeof value === 'number' && Number.isFinite(value) ? value : refuse(`a number ${name}`)
  }
  // What the model counts up to: beyond, it would go on for days.
  const within = (fields: Fields, name: keyof typeof bounds): number => {
    const [value, [least, most]] = [number(fields, name), bounds[name]]
    return value >= least && value <= most ? value : refuse(`${name} from ${least} to ${most}`)
  }
  const timesOf = (value: unknown, what: string): readonly number[] => {
    const list = listOf(value, what)
    // A hit may end a little before it began: two processes' clocks have been asked.
    return list.every(Number.isFinite)
      ? (list as readonly number[])
      : refuse(`${what} in milliseconds`)
  }
  const listOf = (value: unknown, what: string): readonly unknown[] =>
    Array.isArray(value) ? (value as readonly unknown[]) : refuse(what)

  let result: Fields
  try {
    result = fieldsOf(JSON.parse(text), 'an object')
  } catch {
    return refuse('JSON and nothing else')
  }
  const given = fieldsOf(result['setting'], 'a setting')
  const setting = Object.fromEntries(settingNames.map((name) => [name, within(given, name)]))
  const figures = listOf(result['contenders'], 'contenders').map((one) =>
    fieldsOf(one, 'contenders'),
  )
  const contenders = listOf(result['measured'], 'what was measured').map((one): Contender => {
    const measured = fieldsOf(one, 'what was measured')
    const id = contenderIds.find((known) => known === measured['contender'])
    const own = figures.find(({ contender }) => contender === id)
    if (id === undefined || own === undefined) return refuse('contenders that are known')
    return {
      id,
      queries: number(own, 'queries'),
      loadsPerExpiry: number(own, 'queriesPerExpiry'),
      p95Ms: number(fieldsOf(own['hot'], 'hot'), 'p95'),
      cachedAtMs: number(measured, 'cachedAtMs'),
      loadingUntilMs:
        measured['loadingUntilMs'] === undefined ? undefined : number(measured, 'loadingUntilMs'),
      writeBeganMs: number(measured, 'writeBeganMs'),
      lastAnswerMs: number(measured, 'lastAnswerMs'),
      ran: listOf(measured['queries'], 'queries').map((query) => {
        const [began, ran] = timesOf(query, 'queries')
        if (began === undefined || ran === undefined || ran < 0)
          return refuse('queries of two times each')
        return [began, ran] as const
      }),
      hitMs: timesOf(measured['hitMs'], 'hitMs'),
    }
  })
  if (contenders.length === 0) refuse('at least one contender')
  return { setting: setting as unknown as LabSetting, contenders }
}
