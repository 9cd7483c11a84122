/**
 * A soak: the same short load before and after, and between the two a long one with random faults.
 * What each process and Redis hold after the second is compared with what they held after the first.
 * Each fault happens once before that: code that has never run is no leak when it is compiled.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { faults } from './faults.ts'
import type { Fleet } from './fleet.ts'
import { findings, leftBehind, oneLoad } from './judge.ts'
import { longestLifeMs, type Figures, type Resources } from './messages.ts'
import { pick } from './random.ts'

export interface Soak {
  readonly found: readonly string[]
  readonly made: ReadonlyMap<string, number>
  readonly figures: readonly Figures[]
  /** Of processes that were there from the beginning to the end. */
  readonly resources: readonly { readonly before: Resources; readonly after: Resources }[]
  readonly keys: { readonly before: number; readonly after: number }
  readonly slowestOkMs: number
}

const calmMs = 12_000
const okLimitMs = 5_000

export async function soak(
  fleet: Fleet,
  plan: { minutes: number; perSecond: number; random(): number; say(text: string): void },
): Promise<Soak> {
  const { random, say } = plan
  const found: string[] = []
  const made = new Map<string, number>()
  const survivors = fleet.members.slice(0, 2)
  let slowestOkMs = 0

  say('each fault once')
  await fleet.load(plan.perSecond)
  for (const fault of faults) {
    const stop = await fault.begin(fleet)
    await sleep(fault.leastMs ?? 300)
    await stop()
    await fleet.okWithin(2 * okLimitMs)
  }
  await fleet.rest()
  say(`calm load for ${calmMs / 1_000} s`)
  const before = await afterCalm(fleet, plan.perSecond)
  await fleet.load(plan.perSecond)
  const end = performance.now() + plan.minutes * 60_000
  while (performance.now() < end) {
    await sleep(500 + random() * 2_500)
    const fault = pick(random, faults)
    const lastsMs = Math.max(fault.leastMs ?? 0, 200 + random() * 4_000)
    made.set(fault.name, (made.get(fault.name) ?? 0) + 1)
    const leftS = Math.max(0, (end - performance.now()) / 1_000).toFixed(0)
    say(`${fault.name}, ${(lastsMs / 1_000).toFixed(1)} s; ${leftS} s to go`)
    const stop = await fault.begin(fleet)
    await sleep(lastsMs)
    await stop()
    const okMs = await fleet.okWithin(2 * okLimitMs)
    slowestOkMs = Math.max(slowestOkMs, okMs)
    if (okMs > okLimitMs) found.push(`${fault.name}: ok after ${okMs.toFixed(0)} ms`)
    if (okMs === Infinity) break
    const after = [...(await oneLoad(fleet)), ...(await fleet.keysWithoutExpiry())]
    found.push(...after.map((text) => `after ${fault.name}: ${text}`))
  }
  say('no more faults')
  await fleet.rest()
  await fleet.all((member) => member.order({ kind: 'keepPromises' }))
  const after = await afterCalm(fleet, plan.perSecond)
  const resources = survivors.map((_, at) => ({
    before: before.resources[at]!,
    after: after.resources[at]!,
  }))
  resources.forEach((pair, place) => {
    const left = leftBehind(pair.before, pair.after)
    found.push(...left.map((text) => `process ${place}: left behind: ${text}`))
  })
  if (after.keys > before.keys)
    found.push(`${before.keys} keys in Redis before, ${after.keys} after`)
  const figures = await fleet.figures()
  found.push(...findings(figures))
  return {
    found,
    made,
    figures,
    resources,
    keys: { before: before.keys, after: after.keys },
    slowestOkMs,
  }
}

/** The same short load each time, and then nothing for longer than anything lives in Redis. */
async function afterCalm(fleet: Fleet, perSecond: number) {
  await fleet.load(perSecond)
  await sleep(calmMs)
  await fleet.rest()
  await sleep(longestLifeMs + 1_000)
  return { resources: await fleet.resources(), keys: await fleet.keys() }
}
