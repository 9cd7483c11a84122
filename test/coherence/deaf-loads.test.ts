// I3: "a deaf process stops serving it as fresh within 5 s".

import { expect, it } from 'vitest'
import { race } from '../support/races.ts'

it('a deaf process gives no caller of 5 s later the value of a load that an invalidation has fenced', async () => {
  const { clock, link, here, there } = await race({ storeTimeout: '1s' })
  let version = 1
  const loads: (() => void)[] = []
  const slow = () => {
    const began = version
    return new Promise<number>((resolve) => loads.push(() => resolve(began)))
  }
  const mine = here.define({ name: 'item', load: slow, loadTimeout: '60s' })
  const theirs = there.define({ name: 'item', load: slow, loadTimeout: '60s' })
  const early = mine.get()
  await clock.advance(10)
  expect(loads).toHaveLength(1)
  link.holdBus() // the subscription is dead without knowing it
  version = 2
  await theirs.invalidate()
  await clock.advance('8s')
  expect(here.health().bus).toBe('silent')
  const later = mine.get()
  await clock.advance('1s')
  for (const end of loads.splice(0)) end()
  await clock.advance('1s')
  for (const end of loads.splice(0)) end()
  await clock.advance('1s')
  expect(await early).toBe(1)
  expect(await later).toBe(2)
})

it('nor one whose subscription was lost and made anew meanwhile', async () => {
  const { clock, link, here, there } = await race({ storeTimeout: '1s' })
  let version = 1
  const loads: (() => void)[] = []
  const slow = () => {
    const began = version
    return new Promise<number>((resolve) => loads.push(() => resolve(began)))
  }
  const mine = here.define({ name: 'item', load: slow })
  const theirs = there.define({ name: 'item', load: slow })
  void mine.get()
  await clock.advance(10)
  link.loseBus()
  version = 2
  await theirs.invalidate()
  link.regainBus()
  await clock.advance('6s')
  expect(here.health().bus).toBe('up')
  const later = mine.get()
  await clock.advance('1s')
  for (const end of loads.splice(0)) end()
  await clock.advance('1s')
  for (const end of loads.splice(0)) end()
  await clock.advance('1s')
  expect(await later).toBe(2)
})

it('nor what it kept provisionally because one publish was late, while the store is there', async () => {
  const { clock, link, here, there } = await race({
    storeTimeout: '100ms',
    outageTtl: '1h',
    ttl: '1h',
  })
  let version = 1
  const mine = here.define({ name: 'item', load: () => version })
  const theirs = there.define({ name: 'item', load: () => version })
  link.holdReplies('publish')
  expect(await mine.get()).toBe(1)
  for (let n = 0; n < 20; n++) {
    void here.peek(`other ${n}`) // the store answers everything else
    await clock.advance(10)
  }
  link.releaseReplies('publish')
  await clock.advance('3s')
  expect(here.health()).toMatchObject({ store: 'up', bus: 'up' })
  link.holdBus()
  version = 2
  await theirs.invalidate()
  await clock.advance('6s')
  const later = mine.get()
  await clock.advance(200)
  expect(await later).toBe(2)
})
