// Refreshes that fail, or do not come: tried again, and somebody is told while there is still time.

import { describe, expect, it, test, vi } from 'vitest'
import type { RefreshAlert } from '../../src/index.ts'
import { aheadRig } from '../support/ahead-rig.ts'

const minute = 60_000

describe('a refresh that fails', () => {
  it.each(['2m', '3m', '10m'] as const)(
    'three times raises the alert before the entry ends (ttl %s)',
    async (ttl) => {
      const { process, run, source, alerts, since, clock } = aheadRig()
      const { item } = process({ args: ['a'] }, { ttl })
      await run(2_000)
      source.fails = new Error('down')
      let failedAt: number | undefined
      for (let n = 0; n < 600 && failedAt === undefined; n++) {
        await run(500)
        if (alerts.some(({ kind }) => kind === 'failed')) failedAt = since()
      }
      const alert = alerts.find(({ kind }) => kind === 'failed')!
      expect(alert).toMatchObject({ name: 'item', failures: 3, error: source.fails })
      expect(clock.now()).toBeLessThan(alert.expiresAt!)
      // And it is served meanwhile.
      expect((await item.lookup('a')).outcome).toBe('hit')
    },
  )

  it('of several processes counts together, and is told in all of them by one id', async () => {
    const { process, run, source, alerts } = aheadRig()
    for (let n = 0; n < 4; n++) process({ args: ['a'] })
    await run(2_000)
    source.fails = new Error('down')
    await run(110_000)
    const failed = alerts.filter(({ kind }) => kind === 'failed')
    expect(failed).toHaveLength(4)
    expect(new Set(failed.map(({ id }) => id)).size).toBe(1)
    expect(failed[0]!.id).toContain('test:')
  })

  it('T036 is tried again later and later, by one process at a time', async () => {
    const { process, run, source, of } = aheadRig()
    for (let n = 0; n < 4; n++) process({ args: ['a'] })
    await run(2_000)
    const before = of('a').length
    source.fails = new Error('down')
    await run(10 * minute)
    const attempts = of('a').length - before
    // A quarter of a period apart at last.
    expect(attempts).toBeGreaterThan(20)
    expect(attempts).toBeLessThan(50)
  })

  it('and then succeeds is resolved, and counts anew', async () => {
    const { process, run, source, alerts, of } = aheadRig()
    const { cache } = process({ args: ['a'] })
    await run(2_000)
    source.fails = new Error('down')
    await run(100_000)
    source.fails = undefined
    await run(30_000)
    expect(alerts.at(-1)).toMatchObject({ kind: 'resolved' })
    expect(cache.health()).toMatchObject({ status: 'ok', late: [] })
    expect(of('a').at(-1)!.reason).toBe('scheduled')
  })

  it('T027 is told by loadFailed each time, T028 and never as an unhandled rejection', async () => {
    const { process, run, source } = aheadRig()
    const { cache } = process({ args: ['a'] })
    const told: unknown[] = []
    cache.on('loadFailed', ({ error, reason }) => told.push([error, reason]))
    source.fails = new Error('down')
    await run(3_000)
    expect(told[0]).toEqual([source.fails, 'scheduled'])
  })
})

test('T082 a loader that hangs is late, and about to expire, before anybody gets nothing', async () => {
  const { process, run, source, alerts, clock } = aheadRig()
  const { cache, item } = process({ args: ['a'] }, { ttl: '2m', loadTimeout: '10m' })
  await run(2_000)
  source.ms = 20 * minute
  const raised: [RefreshAlert['kind'], number][] = []
  for (let n = 0; n < 118; n++) {
    await run(1_000)
    for (const { kind, expiresAt } of alerts.splice(0))
      raised.push([kind, expiresAt! - clock.now()])
  }
  expect(raised.map(([kind]) => kind).sort()).toEqual(['expiring', 'late']) // prettier-ignore
  for (const [, leftMs] of raised) expect(leftMs).toBeGreaterThan(0)
  expect(cache.health().late).toMatchObject([{ name: 'item', key: item.key('a') }])
  expect(cache.health().status).toBe('degraded')
})

describe('alerts', () => {
  it('are told to notify; what that throws, or rejects with, is told and harms nobody', async () => {
    const { process, run, source } = aheadRig()
    const notify = vi.fn<(alert: RefreshAlert) => void>(() => {
      throw new Error('pager')
    })
    const rejects = vi.fn(async () => Promise.reject(new Error('pager')))
    const { cache } = process({ args: ['a'], alerts: { failures: 1, notify } })
    const told: string[] = []
    cache.on('callbackFailed', ({ callback }) => told.push(callback))
    source.fails = new Error('down')
    await run(1_000)
    expect(notify.mock.calls[0]![0]).toMatchObject({ kind: 'failed', failures: 1 })
    expect(told).toEqual(['precompute.alerts.notify'])
    process({ args: ['a'], alerts: { failures: 1, notify: rejects } })
    await run(30_000)
    expect(rejects).toHaveBeenCalled()
  })

  it('are raised once, whatever goes on for how long', async () => {
    const { process, run, source, alerts } = aheadRig()
    const { cache } = process({ args: ['a'] })
    await run(2_000)
    source.fails = new Error('down')
    await run(10 * minute)
    expect(alerts.map(({ kind }) => kind).sort()).toEqual(['expiring', 'failed', 'late']) // prettier-ignore
    expect(cache.counters()['item']!.alerts).toBe(3)
  })

  it('have thresholds', async () => {
    const { process, run, source, alerts, since } = aheadRig()
    process({ args: ['a'], alerts: { failures: 1_000, late: '5s', expiring: '2m' } })
    await run(2_000)
    source.fails = new Error('down')
    const at: Partial<Record<RefreshAlert['kind'], number>> = {}
    for (let n = 0; n < 180; n++) {
      await run(1_000)
      for (const { kind } of alerts.splice(0)) at[kind] = since()
    }
    expect(Object.keys(at).sort()).toEqual(['expiring', 'late']) // prettier-ignore
  })
})
