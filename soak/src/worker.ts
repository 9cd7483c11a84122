// One process of the soak: does as it is ordered and tells what came of it. Ends with its parent.

import { setTimeout as sleep } from 'node:timers/promises'
import { openClient } from './client.ts'
import type { Answer, Figures, News, Order, ReadAnswer, Sent, WorkerPlan } from './messages.ts'
import { Promises } from './promises.ts'
import { seeded } from './random.ts'
import { resourcesOf } from './resources.ts'
import { openShop } from './shop.ts'
import { openSource } from './source.ts'
import { Tally } from './tally.ts'
import { Traffic } from './traffic.ts'

const plan = JSON.parse(process.argv[2] ?? '') as WorkerPlan
const random = seeded(plan.seed)
const tally = new Tally()
const promises = new Promises()
const source = openSource(plan.sourcePort)
const { store, emitter, end } = await openClient(plan.client, plan.port)
const shop = openShop(store, source, random, { loading: (key) => tell({ kind: 'loading', key }) })
const traffic = new Traffic({ shop, source, promises, tally, random, plan })

process.on('disconnect', () => process.exit())
process.on('unhandledRejection', (reason) => tally.failed(reason))
process.on('message', ({ id, ...order }: Sent) => {
  obey(order as Order).then(
    (result) => tell({ kind: 'done', id, result }),
    (error: unknown) => tell({ kind: 'failed', id, reason: String(error) }),
  )
})
while (shop.cache.health().status !== 'ok') await sleep(5)
tell({ kind: 'ready' })

function tell(message: Answer | News): void {
  process.send?.(message)
}

async function obey(order: Order): Promise<unknown> {
  switch (order.kind) {
    case 'load':
      return traffic.start(order.perSecond)
    case 'rest':
      await traffic.stop()
      return shop.cache.idle()
    case 'read':
      return readOne(order.key, order.ms)
    case 'keepPromises':
      return traffic.keepPromises()
    case 'figures':
      return figures()
    case 'resources':
      return resourcesOf({ client: emitter, process })
    case 'status':
      return shop.cache.health().status
    case 'close':
      await shop.cache.close()
      end()
      source.end()
      return undefined
  }
}

async function readOne(key: string, ms: number): Promise<ReadAnswer> {
  const began = performance.now()
  try {
    const value = await shop.resources.single.get({ key, ms })
    return { value, ms: performance.now() - began }
  } catch (error) {
    return { error: String(error), ms: performance.now() - began }
  }
}

function figures(): Figures {
  const all = Object.values(shop.cache.counters())
  const sum = (of: (it: (typeof all)[number]) => number): number =>
    all.reduce((total, it) => total + of(it), 0)
  const { requests, outcomes, expected, errors, longestMs, latestMs } = tally
  return {
    requests,
    outcomes,
    expected,
    errors,
    longestMs,
    latestMs,
    staleReads: promises.broken,
    ...shop.figures(),
    leases: sum((it) => it.leases),
    unleased: sum(unleasedOf),
    unleasedReads: unleasedOf(shop.cache.counters()['single']!),
  }
}

function unleasedOf(it: ReturnType<typeof shop.cache.counters>[string]): number {
  return (
    it.unleasedWaited +
    it.unleasedStore +
    it.unleasedNolease +
    it.unleasedUncacheable +
    it.unleasedPrivate +
    it.unleasedLocal
  )
}
