import { expect, test } from 'vitest'
import { Tags } from '../../src/cache/tags.ts'
import type { Head } from '../../src/core/head.ts'
import type { EpochNews, EpochsRequest } from '../../src/ports.ts'

test('what was heard of, and forgotten in a gap, is taken from the look-up again', () => {
  const now = 1_000_000
  const tags = new Tags(() => undefined)
  const take = (news: Partial<EpochNews>, asked: EpochsRequest): void => {
    const none = { floor: 1, since: 0, highest: 0, settling: [], time: now, marks: [] }
    tags.take({ ...none, ...news }, asked)
  }
  const hear = (kind: 'gone' | 'expired', previous: number, epoch: number): void => {
    tags.hear({ type: 'bumped', id: kind, kind, labels: ['e'], previous, epoch, until: 0 }, now)
  }
  take({ highest: 100 }, tags.request())
  hear('gone', 100, 110)
  const asked = tags.request()
  // Ahead of an answer that lacks most of what was changed meanwhile.
  hear('expired', 9_000, 9_001)
  take({ since: 4_000, highest: 9_000 }, asked)
  const frame = { asOf: 105, tags: ['e'], startedAt: now } as unknown as Head
  expect(tags.judge(frame, [], 'k', now)).toBe('unknown')
  const looked = tags.request(['e'])
  const marks = [
    { kind: 'gone', label: 'e', epoch: 110 },
    { kind: 'expired', label: 'e', epoch: 9_001 },
  ] as const
  take({ since: looked.since, highest: 9_001, marks }, looked)
  expect(tags.judge(frame, [], 'k', now)).toBe('gone')
})
