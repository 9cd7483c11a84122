import { expect, it } from 'vitest'
import { controlled, world } from '../support/two-processes.ts'

it('a call that gives up while it waits for its turn starts no load', async () => {
  const { clock, process } = world()
  const cache = await process()
  const loader = controlled<number>()
  const item = cache.define({ name: 'item', load: (_id: string) => loader.load() })
  const callers = [item.get('k')]
  await clock.advance(10)
  for (let n = 0; n < 2; n++) {
    const gone = item.invalidate('k')
    await clock.advance(10)
    await gone
    if (n === 0) callers.push(item.get('k'))
    await clock.advance(10)
  }
  expect(loader.runs).toBe(2)
  const controller = new AbortController()
  const third = item.get('k', { signal: controller.signal }).catch(() => 'aborted')
  await clock.advance(10)
  expect(loader.runs).toBe(2)
  controller.abort()
  expect(await third).toBe('aborted')
  loader.end(1)
  loader.end(2)
  await clock.advance(10)
  expect(await Promise.all(callers)).toEqual([1, 2])
  expect(loader.runs).toBe(2)
})
