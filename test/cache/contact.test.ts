// A process proves its ears for each master of a cluster: what is published through one that it does
// not hear any more is missed without a word, however well it hears the others. In virtual time.

import { describe, expect, it } from 'vitest'
import { Contacts } from '../../src/cache/contacts.ts'
import { Hearing } from '../../src/cache/hearing.ts'
import type { StoreSession } from '../../src/ports.ts'
import { manualClock } from '../../src/testing/index.ts'

interface Link {
  /** It takes beats. */
  reached: boolean
  /** What it publishes comes to us. */
  heard: boolean
}

async function begin(...names: string[]) {
  const clock = manualClock()
  const links = new Map<string, Link>()
  const add = (name: string) => links.set(name, { reached: true, heard: true })
  names.forEach(add)
  const told: string[] = []
  let published = 0
  const session = {
    hasBus: true,
    async beat(n: number) {
      const sent = [...links].map(([through, link]) => {
        if (link.reached) published++
        if (link.reached && link.heard) setImmediate(() => hearing.heard(n, through))
        return { through, taken: Promise.resolve(link.reached) }
      })
      if (![...links.values()].some(({ reached }) => reached)) throw new Error('nobody answers')
      return { time: clock.now(), server: 'one', sent, news: Promise.resolve(undefined) }
    },
  } as unknown as StoreSession
  const hearing = new Hearing(
    {
      clock,
      onChange: (state) => told.push(state),
      onSilence: () => told.push('renew'),
      onServerChange: () => told.push('server'),
      asks: () => ({ since: 0, known: 0, settling: false, labels: [] }),
      onNews: () => {},
    },
    false,
  )
  const beat = () => hearing.beat(session)
  hearing.start(beat)
  hearing.onBus('up', beat)
  await clock.advance(10)
  return {
    clock,
    links,
    link: (name: string) => links.get(name)!,
    add,
    hearing,
    told,
    hears: () => hearing.hears(clock.now()),
    renew() {
      hearing.onBus('down', beat)
      hearing.onBus('up', beat)
    },
    published: () => published,
  }
}

it('each master was heard once before the first is believed', async () => {
  const { clock, links, hears, told } = await begin('a', 'b', 'c')
  expect([hears(), told]).toEqual([true, ['up']])
  const late = await begin('a')
  expect(late.hears()).toBe(true)
  late.add('b')
  late.link('b').heard = false
  late.renew()
  await late.clock.advance(10)
  expect(late.hears()).toBe(false)
  late.link('b').heard = true
  await late.clock.advance(2_000)
  expect(late.hears()).toBe(true)
  await clock.advance(60_000)
  expect([hears(), told, links.size]).toEqual([true, ['up'], 3])
})

it('one that is not heard makes deaf 5 s after its last beat that was, whatever the others say', async () => {
  const { clock, link, hearing, told } = await begin('a', 'b', 'c')
  await clock.advance(2_000)
  const last = clock.now() - 10
  link('b').heard = false
  await clock.advance(4_000)
  expect(hearing.deafAt).toBe(last + 5_000)
  expect(hearing.isDeaf(last + 4_999)).toBe(false)
  expect(hearing.isDeaf(last + 5_000)).toBe(true)
  await clock.advance(1_000)
  expect(told).toEqual(['up'])
  await clock.advance(1_000)
  expect(told).toContain('silent')
})

it('when it is heard again, what was kept before and meanwhile is not believed', async () => {
  const { clock, link, hearing, hears, told } = await begin('a', 'b')
  const before = hearing.trust
  link('b').heard = false
  await clock.advance(7_000)
  link('b').heard = true
  await clock.advance(2_000)
  expect(hears()).toBe(true)
  expect(hearing.trust).toBe(before + 1)
  expect(told.filter((one) => one !== 'renew')).toEqual(['up', 'silent', 'up'])
})

it('one beat that was missed, and nothing after it, is a gap', async () => {
  const { clock, link, hearing, hears } = await begin('a', 'b')
  const before = hearing.trust
  link('b').heard = false
  await clock.advance(2_000)
  link('b').heard = true
  await clock.advance(1_000)
  expect(hearing.trust).toBe(before)
  await clock.advance(1_000)
  expect([hearing.trust, hears()]).toEqual([before + 1, true])
  await clock.advance(20_000)
  expect(hearing.trust).toBe(before + 1)
})

it('with one server a beat that was not taken is no gap: its connection loses nothing', async () => {
  const { clock, link, hearing, hears, told } = await begin('a')
  const before = hearing.trust
  link('a').reached = false
  await clock.advance(2_000)
  link('a').reached = true
  await clock.advance(2_000)
  expect([hearing.trust, hears(), told]).toEqual([before, true, ['up']])
})

it('one that cannot be reached makes deaf too, and renews no subscription', async () => {
  const { clock, link, hears, told } = await begin('a', 'b')
  link('b').reached = false
  await clock.advance(30_000)
  expect([hears(), told]).toEqual([false, ['up', 'silent']])
})

it('one that is no master any more counts no more, and its heir has no time of its own', async () => {
  const { clock, links, link, add, hearing, hears } = await begin('a', 'b')
  link('b').reached = false
  await clock.advance(3_000)
  const { deafAt } = hearing
  links.delete('b')
  add('heir')
  link('heir').heard = false
  await clock.advance(1_500)
  expect([hears(), hearing.deafAt]).toEqual([true, deafAt])
  await clock.advance(1_000)
  expect(hears()).toBe(false)
  link('heir').heard = true
  await clock.advance(2_000)
  expect(hears()).toBe(true)
  links.delete('heir')
  await clock.advance(20_000)
  expect(hears()).toBe(true)
})

it('three beats that one takes and that are not heard renew the subscription, and again after three more', async () => {
  const { clock, link, told } = await begin('a', 'b', 'c')
  link('b').heard = false
  const renewals = () => told.filter((one) => one === 'renew').length
  await clock.advance(5_900)
  expect(renewals()).toBe(0)
  await clock.advance(200)
  expect(renewals()).toBe(1)
  await clock.advance(5_800)
  expect(renewals()).toBe(1)
  link('c').heard = false
  await clock.advance(60_000)
  expect(renewals()).toBe(11)
  link('b').heard = true
  link('c').heard = true
  await clock.advance(2_000)
  const before = renewals()
  await clock.advance(60_000)
  expect(renewals()).toBe(before)
})

it('is one message for each master and beat', async () => {
  const { clock, published } = await begin(...Array.from({ length: 16 }, (_, n) => `m${n}`))
  const before = published()
  await clock.advance(20_000)
  expect(published() - before).toBe(160)
})

describe('a subscription that is dead', () => {
  const unheard = (isDeaf: boolean): string[] => {
    const contacts = new Contacts()
    contacts.know(['m'], 1)
    contacts.heard(1, 'm', 0)
    return [2, 3, 4].map((n) => contacts.took(n, 'm', 2_000 * n, isDeaf))
  }
  it('is made anew after the third beat that was taken and not heard', () => {
    expect(unheard(false)).toEqual(['well', 'well', 'silent'])
  })
  it('is made anew after the second one where nothing in memory is believed anyway', () => {
    expect(unheard(true)).toEqual(['well', 'silent', 'well'])
  })
})
