import { expect, test } from 'vitest'
import { Outbox } from '../../src/cache/outbox.ts'
import { manualClock } from '../../src/testing/index.ts'

test('who asks for his own names to be repeated is told when they were, whatever else is under way', async () => {
  const sent: string[][] = []
  let endFirst = (): void => {}
  const first = new Promise<void>((resolve) => (endFirst = resolve))
  const outbox = new Outbox({
    clock: manualClock(),
    isUp: () => true,
    parts: (names) => names.map((name) => [name]),
    deliver: async (names) => {
      sent.push([...names])
      if (names[0] === 'a') await first
    },
    detached: (run) => run(),
    onOverflow: () => {},
  })
  outbox.missed(['a', 'b'], 'invalidate')
  const ofA = outbox.drain((name) => name === 'a')
  const ofB = outbox.drain((name) => name === 'b')
  endFirst()
  await ofB
  expect(sent).toEqual([['a'], ['b']])
  await ofA
  expect(outbox.size).toBe(0)
})
