// Node's diagnostics_channel: every event, with the namespace of its cache, and a trace of every load.

import { channel, subscribe, tracingChannel, unsubscribe } from 'node:diagnostics_channel'
import { describe, expect, it, onTestFinished } from 'vitest'
import { createCache, type Cache, type LoadTrace } from '../../src/index.ts'

function opened(namespace = 'shop'): Cache {
  const cache = createCache({ namespace, ttl: '60s' })
  onTestFinished(() => cache.close({ timeout: 0 }))
  return cache
}

describe('breakwater:<event>', () => {
  it('has each event of every cache of the process', async () => {
    const told: unknown[] = []
    const hear = (message: unknown) => told.push(message)
    for (const event of ['answer', 'load']) {
      subscribe(`breakwater:${event}`, hear)
      onTestFinished(() => void unsubscribe(`breakwater:${event}`, hear))
    }
    for (const namespace of ['one', 'two']) {
      const item = opened(namespace).define({ name: 'item', load: (id: number) => id })
      await item.get(1)
      await item.get(1)
    }
    expect(
      told.filter((message) => (message as { namespace: string }).namespace === 'two'),
    ).toEqual([
      expect.objectContaining({ namespace: 'two', name: 'item', reason: 'miss' }),
      expect.objectContaining({ namespace: 'two', name: 'item', outcome: 'loaded' }),
      expect.objectContaining({ namespace: 'two', name: 'item', outcome: 'hit' }),
    ])
    expect(told).toHaveLength(6)
  })

  it('makes no event while nobody listens', async () => {
    expect(channel('breakwater:answer').hasSubscribers).toBe(false)
    const item = opened().define({ name: 'item', load: (id: number) => id })
    await item.get(1)
  })
})

describe('tracing:breakwater.load', () => {
  it('goes around each load, in the context of the call that began it', async () => {
    const told: [string, Partial<LoadTrace> & { result?: unknown; error?: unknown }][] = []
    const handlers = Object.fromEntries(
      (['start', 'end', 'asyncStart', 'asyncEnd', 'error'] as const).map((event) => [
        event,
        (message: object) => void told.push([event, { ...message }]),
      ]),
    ) as Record<'start' | 'end' | 'asyncStart' | 'asyncEnd' | 'error', (message: object) => void>
    const traced = tracingChannel('breakwater.load')
    traced.subscribe(handlers)
    onTestFinished(() => traced.unsubscribe(handlers))
    const fault = new Error('down')
    const item = opened().define({
      name: 'item',
      load: async (id: number) => {
        if (id === 2) throw fault
        return id
      },
    })
    await item.get(1)
    expect(told.map(([event]) => event)).toEqual(['start', 'end', 'asyncStart', 'asyncEnd'])
    expect(told[0]![1]).toMatchObject({
      namespace: 'shop',
      name: 'item',
      key: item.key(1),
      reason: 'miss',
    })
    await expect(item.get(2)).rejects.toBe(fault)
    expect(told.find(([event]) => event === 'error')![1].error).toBe(fault)
  })
})
