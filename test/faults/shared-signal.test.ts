// Found by the simulator: on Node 20 an event has no `currentTarget` for any listener but the first,
// and a throw in a listener of ours ends the process.

import { expect, it } from 'vitest'
import { controlled, world } from '../support/two-processes.ts'

it('a caller leaves when his signal aborts, also one that others had listened to before', async () => {
  const { clock, process: start } = world()
  const cache = await start()
  const loader = controlled<number>()
  const item = cache.define({ name: 'item', load: (_id: string) => loader.load() })
  const thrown: unknown[] = []
  const onThrown = (error: unknown): void => void thrown.push(error)
  process.on('uncaughtException', onThrown)
  try {
    const controller = new AbortController()
    controller.signal.addEventListener('abort', () => {})
    const left = item.get('k', { signal: controller.signal }).catch((error: Error) => error)
    const stays = item.get('k')
    await clock.advance(10)
    controller.abort(new Error('left'))
    await clock.advance(10)
    expect(thrown).toEqual([])
    expect(await left).toMatchObject({ message: 'left' })
    loader.end(1)
    await clock.advance(10)
    expect(await stays).toBe(1)
  } finally {
    process.off('uncaughtException', onThrown)
  }
})
