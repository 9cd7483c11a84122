// One process of an outage: a cache, and requests by schedule whether or not those before them have
// been answered. Notes of each how late the process itself came to it, since a stall of the event
// loop is no wait of the cache's, and yet paid by who asks. Ends with its parent.

import { setTimeout as sleep } from 'node:timers/promises'
import { createCache, type Cache, type Lookup } from 'breakwater'
import { now } from '../fleet/messages.ts'
import { productPage } from '../measure/product.ts'
import { storeBy } from './connect.ts'
import { keyAt, keysToWarm } from './keys.ts'
import {
  connectTimeoutMs,
  loadMs,
  placesAtSource,
  storeTimeoutMs,
  type Answer,
  type Asked,
  type FromWorker,
  type Told,
  type ToWorker,
  type WorkerPlan,
} from './plan.ts'

const plan = JSON.parse(process.argv[2] ?? '') as WorkerPlan
const errors: string[] = []
let running = 0
let mostLoads = 0

const { store, disconnect } = await storeBy(plan.client, plan.port)
const cache = createCache({
  namespace: 'outage',
  store,
  storeTimeout: storeTimeoutMs,
  connectTimeout: connectTimeoutMs,
  limit: { concurrency: placesAtSource },
  memory: plan.situation === 'no memory' ? false : {},
  // Warm entries pass their ttl in the middle of the outage.
  ...(plan.situation === 'warm'
    ? { ttl: '5s', staleWhileRevalidate: '10m', staleIfError: '10m' }
    : { ttl: '10m' }),
})
const pages = cache.define({
  name: 'page',
  load: async (key: string) => {
    running += 1
    mostLoads = Math.max(mostLoads, running)
    try {
      await sleep(loadMs)
      return { ...productPage(7, 1), key }
    } finally {
      running -= 1
    }
  },
})

process.on('disconnect', () => process.exit())
process.on('unhandledRejection', (reason) => errors.push(`unhandled: ${String(reason)}`))
process.on('message', (order: ToWorker) => {
  obey(order).then(tell, (error: unknown) => tell({ kind: 'failed', reason: String(error) }))
})
tell({ kind: 'ready' })

function tell(message: FromWorker): void {
  process.send?.(message)
}

async function obey(order: ToWorker): Promise<FromWorker> {
  switch (order.kind) {
    case 'warm':
      while (cache.health().status !== 'ok') await sleep(10)
      await warm(keysToWarm(plan))
      return { kind: 'ready' }
    case 'go': {
      mostLoads = 0
      const watched = watchHealth(cache)
      const asked = await requests(order.at, order.until)
      const told: Told = { asked, errors, mostLoads, health: watched.end() }
      await cache.close()
      disconnect()
      return { kind: 'told', told }
    }
  }
}

/** A few at a time, and again what a busy machine did not get stored within `storeTimeout`. */
async function warm(keys: readonly string[]): Promise<void> {
  let missing = keys
  while (missing.length > 0) {
    for (let from = 0; from < missing.length; from += 20) {
      await Promise.all(missing.slice(from, from + 20).map((key) => pages.get(key)))
    }
    await cache.idle()
    const found = await Promise.all(missing.map((key) => pages.peek(key)))
    missing = missing.filter((_, n) => found[n]?.state !== 'fresh')
  }
}

async function requests(at: number, until: number): Promise<Asked[]> {
  const everyMs = 1_000 / plan.perSecond
  const asked: Promise<Asked>[] = []
  for (let n = 0; ; n += 1) {
    // Anywhere in its slot: processes must not ask in step.
    const due = at + (n + Math.random()) * everyMs
    if (due >= until) break
    const wait = due - now()
    if (wait > 0) await sleep(wait)
    asked.push(ask(keyAt(plan, n), due))
  }
  return Promise.all(asked)
}

async function ask(key: string, due: number): Promise<Asked> {
  const lateMs = now() - due
  let answer: Answer
  try {
    const found = await pages.lookup(key)
    if (found.value.key !== key) throw new Error(`asked for ${key}, got ${found.value.key}`)
    answer = whoAnswered(found)
  } catch (error) {
    errors.push(String(error))
    answer = 'failed'
  }
  return [due, lateMs, now() - due, answer, key]
}

function whoAnswered(found: Lookup<unknown>): Answer {
  if (found.outcome === 'loaded' || found.outcome === 'waited') return found.outcome
  if ('tier' in found && found.tier !== 'source') return found.tier
  return 'failed'
}

function watchHealth(of: Cache): { end(): Told['health'] } {
  const seen: [number, string][] = []
  const look = (): void => {
    const { status } = of.health()
    if (seen.at(-1)?.[1] !== status) seen.push([now(), status])
  }
  look()
  const timer = setInterval(look, 10)
  return {
    end: () => {
      clearInterval(timer)
      return seen
    },
  }
}
