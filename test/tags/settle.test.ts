// `settle`: told late, in parts, twice, or to a store that is not there; and loads that take longer.

import { describe, expect, test } from 'vitest'
import { tagRace } from '../support/tag-race.ts'
import { watched } from '../support/watched.ts'

describe('settle', () => {
  test('of many keys: one that is heard of before its settling is, settles all the same', async () => {
    const { clock, process, define, source } = tagRace()
    const [a, b] = [await process(), await process()]
    const [here, there] = [define(a), define(b)]
    const keys = Array.from({ length: 600 }, (_, n) => `k${n}`)
    const last = keys.at(-1)!
    await there.get(last)
    // More than one script takes: all are told to settle before any is invalidated.
    const settling = watched(here.invalidateMany(keys, { settle: '2s' }))
    for (let n = 0; n < 1_000; n++) {
      await Promise.resolve()
      if (b.heard.some((m) => m.type === 'invalidated' && m.key.endsWith('k599'))) break
    }
    void there.get(last)
    await clock.advance(10)
    expect(settling.state).toBe('resolved')
    expect(await there.get(last)).toBe('old') // of a replica that lags
    source.value = 'new'
    await clock.advance('3s')
    expect(await there.get(last)).toBe('new')
  })

  test('of one: what is loaded before that is told, settles all the same', async () => {
    const { clock, process, define, source } = tagRace()
    const [a, b] = [await process(), await process()]
    const [here, there] = [define(a), define(b)]
    a.link.hold('requests', 'bump')
    const done = watched(here.invalidate('k', { settle: '2s' }))
    await clock.advance(1)
    expect(await there.get('k')).toBe('old') // of a replica that lags
    a.link.releaseAll()
    await clock.advance(10)
    expect(done.state).toBe('resolved')
    source.value = 'new'
    await clock.advance('3s')
    expect(await there.get('k')).toBe('new')
  })

  test('is for a load that takes longer, too', async () => {
    const { clock, process, define, source, loads } = tagRace()
    const a = await process()
    const item = define(a)
    await item.invalidate('k', { settle: '2s' })
    source.slow = true
    const first = watched(item.get('k'))
    await clock.advance('15s')
    source.value = 'new'
    source.slow = false
    loads[0]!.end()
    await clock.advance(10)
    expect(first.state).toBe('resolved')
    expect(await item.get('k')).toBe('new')
  })

  test('twice: the longer one counts, for a process that starts meanwhile too', async () => {
    const { clock, process, define, source } = tagRace()
    const a = await process()
    const item = define(a)
    await item.invalidate('k', { settle: '60s' })
    await item.invalidate('k', { settle: '1s' })
    await clock.advance('2s')
    const b = await process()
    const there = define(b)
    expect(await there.get('k')).toBe('old')
    source.value = 'new'
    await clock.advance('60s')
    expect(await there.get('k')).toBe('new')
  })

  test('is not forgotten when the store takes it only later', async () => {
    const { clock, process, define, source } = tagRace()
    const [a, b] = [await process(), await process()]
    define(a)
    const there = define(b)
    a.link.failing = 'before'
    await expect(a.cache.invalidateTags('t', { settle: '20s' })).rejects.toThrow('told to fail')
    a.link.failing = undefined
    await clock.advance('5s')
    expect(a.cache.health().status).toBe('ok')
    expect(await there.get('k')).toBe('old')
    source.value = 'new'
    await clock.advance('20s')
    expect(await there.get('k')).toBe('new')
  })
})

// A loop of promises would stop this process: its clock gives up instead.
test('what settles while its publish is under way is loaded anew, and nobody loops', async () => {
  const { clock, process, define, loads, source } = tagRace()
  let asked = 0
  const now = (): number => {
    if (++asked > 100_000) throw new Error('an endless loop')
    return clock.now()
  }
  const a = await process({ clock: { ...clock, now } })
  const item = define(a)
  a.link.hold('replies', 'publish')
  await a.cache.invalidateTags('t', { settle: '2s' })
  source.slow = true
  const first = watched(item.get('k'))
  await clock.advance(1_000)
  loads[0]!.end()
  await clock.advance(1_100)
  expect(first.value).toBe('old')
  source.value = 'new'
  source.slow = false
  const next = watched(item.get('k'))
  await clock.advance(1)
  a.link.releaseAll()
  await clock.advance(10)
  expect(next).toMatchObject({ state: 'resolved', value: 'new' })
})

// Its subscription lags. The news of its beat tell it of the change before its message comes, and
// must tell it that the source has not settled: what it loads by then stays for a whole ttl.
test('who learns of a change by its beat first learns that it settles', async () => {
  const { clock, process, define, source } = tagRace()
  const [a, b] = [await process(), await process()]
  const here = define(a)
  a.link.holdBus()
  await b.cache.invalidateTags('t', { settle: '4s' })
  await clock.advance('2.5s')
  expect(await here.get('k')).toBe('old') // of a replica that lags
  a.link.releaseBus()
  source.value = 'new'
  await clock.advance('10s')
  expect(await here.get('k')).toBe('new')
})

// `loadTimeout` is 30 s by default: a load may end long after what it read has settled.
test('a load that ends long after its source has settled is not kept, whatever settles by then', async () => {
  const { clock, process, define, source, loads } = tagRace()
  const a = await process()
  const item = define(a)
  await item.invalidate('k', { settle: '2s' })
  source.slow = true
  const first = watched(item.get('k'))
  await clock.advance('13s')
  source.value = 'new'
  source.slow = false
  await item.invalidate('another', { settle: '2s' })
  loads[0]!.end()
  await clock.advance(10)
  expect(first.state).toBe('resolved')
  expect(await item.get('k')).toBe('new')
})
