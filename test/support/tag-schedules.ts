// What happens in the random schedules of tags/model.test.ts: calls and changes in three processes,
// loads that end, time that passes, and everything that a network does to requests, replies and
// messages.

import fc from 'fast-check'
import type { Gated } from './gated-store.ts'

export const keys = ['a', 'b'] as const
export type Key = (typeof keys)[number]
const replies = [
  'read',
  'acquire',
  'publish',
  'publish',
  'invalidate',
  'write',
  'epochs',
  'bump',
] as const
const requests = ['read', 'publish', 'epochs', 'bump', 'bump', 'bump'] as const
const changes = [
  'invalidateTags',
  'invalidateTags',
  'invalidateTags',
  'clear',
  'clearItem',
] as const
const expiries = ['expireTags', 'expireAll', 'expire'] as const

// Two processes and one key most of the time: races need them to meet.
const where = {
  p: fc.constantFrom(0, 0, 0, 1, 1, 1, 2),
  k: fc.constantFrom<Key>('a', 'a', 'a', 'a', 'b'),
}
const tag = fc.constantFrom('all', 'all', 'own', 'own', 'nothing')
const of = <T extends string>(...what: T[]): fc.Arbitrary<T> => fc.constantFrom(...what)

export interface Step {
  readonly do: string
  readonly p?: number
  readonly k?: Key
  readonly n?: number
  readonly ms?: number
  readonly what?: Gated
  readonly tag?: string
}
type Steps = { weight: number; arbitrary: fc.Arbitrary<Step> }[]

const calm: Steps = [
  { weight: 9, arbitrary: fc.record({ do: of('get', 'get', 'get', 'getMany', 'peek'), ...where }) },
  { weight: 4, arbitrary: fc.record({ do: of(...changes), ...where, tag }) },
  { weight: 1, arbitrary: fc.record({ do: of(...expiries), ...where, tag }) },
  { weight: 1, arbitrary: fc.record({ do: of('invalidate', 'set', 'refresh'), ...where }) },
  { weight: 6, arbitrary: fc.record({ do: of('end', 'end', 'end', 'fail'), n: fc.nat(1) }) },
  { weight: 2, arbitrary: fc.record({ do: of('pass'), ms: fc.constantFrom(1, 60, 1_100, 4_000) }) },
  {
    weight: 2,
    arbitrary: fc.record({
      do: of('holdReplies', 'open', 'open'),
      what: of(...replies),
      p: where.p,
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({ do: of('holdRequests', 'open'), what: of(...requests), p: where.p }),
  },
  { weight: 4, arbitrary: fc.record({ do: of('holdBus', 'releaseBus'), p: where.p }) },
  { weight: 2, arbitrary: fc.record({ do: of('quickLoads', 'slowLoads') }) },
]
const stormy: Steps = [
  ...calm,
  {
    weight: 3,
    arbitrary: fc.record({ do: of('loseBus', 'severBus', 'regainBus', 'regainBus'), p: where.p }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ do: of('failBefore', 'failAfter', 'heal', 'heal'), p: where.p }),
  },
  { weight: 1, arbitrary: fc.record({ do: of('loseTags') }) },
]

// Chance alone seldom finds the way into the narrow windows: some schedules pass by them.
const passages: readonly ((p: number, q: number) => readonly Step[])[] = [
  // Our own change is slow, another overtakes it, and is heard of last.
  (p, q) => [
    { do: 'holdRequests', what: 'bump', p },
    { do: 'invalidateTags', p, tag: 'all' },
    { do: 'get', p },
    { do: 'end', n: 0 },
    { do: 'holdBus', p },
    { do: 'invalidateTags', p: q, tag: 'all' },
    { do: 'open', what: 'bump', p },
    { do: 'releaseBus', p },
    { do: 'get', p },
  ],
  // Some are missed, after single ones had been looked up.
  (p, q) => [
    { do: 'invalidateTags', p: q, tag: 'nothing' },
    { do: 'get', p },
    { do: 'end', n: 0 },
    { do: 'loseBus', p },
    { do: 'invalidateTags', p: q, tag: 'own' },
    { do: 'regainBus', p },
    { do: 'get', p },
  ],
  // The value is there, its publish is under way.
  (p, q) => [
    { do: 'holdReplies', what: 'publish', p },
    { do: 'get', p },
    { do: 'end', n: 0 },
    { do: 'clear', p: q },
    { do: 'get', p },
    { do: 'open', what: 'publish', p },
  ],
  // A value is set while it is asked what has changed.
  (p, q) => [
    { do: 'loseBus', p },
    { do: 'holdRequests', what: 'epochs', p },
    { do: 'set', p },
    { do: 'invalidateTags', p: q, tag: 'all' },
    { do: 'open', what: 'epochs', p },
    { do: 'get', p },
    { do: 'regainBus', p },
  ],
  // A change is taken only when it is repeated.
  (p, q) => [
    { do: 'get', p: q },
    { do: 'end', n: 0 },
    { do: 'failBefore', p },
    { do: 'invalidateTags', p, tag: 'own' },
    { do: 'get', p: q },
    { do: 'heal', p },
    { do: 'get', p },
    { do: 'pass', ms: 1_100 },
    { do: 'get', p: q },
  ],
]
const passage = fc
  .record({
    of: fc.constantFrom(...passages),
    p: fc.constantFrom(0, 1),
    skip: fc.array(fc.nat(8), { maxLength: 2 }),
  })
  .map(({ of: steps, p, skip }) => steps(p, 1 - p).filter((_, n) => !skip.includes(n)))

export interface World {
  readonly steps: Steps
  readonly most: { readonly labels: number; readonly marks: number }
}
const plenty = { labels: 1_000, marks: 1_000 }
export const worlds: Record<string, World> = {
  calm: { steps: calm, most: plenty },
  stormy: { steps: stormy, most: plenty },
  'stormy, and more is changed than one answer holds': {
    steps: stormy,
    most: { labels: 9, marks: 2 },
  },
}

/** Single steps, and now and then a passage, to be flattened. */
export function schedules({ steps }: World): fc.Arbitrary<readonly (readonly Step[])[]> {
  const step: fc.Arbitrary<Step> = fc.oneof(...steps)
  const alone = step.map((one) => [one])
  const some = fc.oneof({ weight: 12, arbitrary: alone }, { weight: 1, arbitrary: passage })
  return fc.array(some, { minLength: 8, maxLength: 50, size: 'max' })
}
