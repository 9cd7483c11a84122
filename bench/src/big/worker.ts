// One fresh process, one big value, one step with it: how long it held the event loop. All options of
// the cache are defaults but `maxBytes` and the lifetime.

import { deepStrictEqual } from 'node:assert'
import { setTimeout as sleep } from 'node:timers/promises'
import { createCache } from 'breakwater'
import { answer } from '../child/child.ts'
import { connectBig } from './clients.ts'
import { held } from './held.ts'
import type { BigPlan, BigResult, SlowEvent } from './plan.ts'
import { bigValue, type Big } from './values.ts'

const touchedBytes = 10_000_000

await answer(async (plan: BigPlan): Promise<BigResult> => {
  switch (plan.step) {
    case 'touch':
      return bare(async () => Buffer.allocUnsafeSlow(touchedBytes).fill(1))
    case 'bare set':
    case 'bare get':
      return bareClient(plan)
    case 'store':
    case 'read':
    case 'set':
      return ofCache(plan)
  }
})

async function bare(work: () => Promise<unknown>): Promise<BigResult> {
  return { ...(await held(work)), tier: undefined, slow: [], trouble: [] }
}

async function bareClient({ step, client, key, url }: BigPlan): Promise<BigResult> {
  const redis = await connectBig(client, url)
  if (step === 'bare get') return bare(() => redis.get(key))
  const value = bigValue('buffer') as Buffer
  return bare(() => redis.set(key, value))
}

async function ofCache({ step, client, kind, key, url }: BigPlan): Promise<BigResult> {
  // To make it takes longer than anything that is measured: before, or not at all where it is read.
  let value = step === 'read' ? undefined : bigValue(kind)
  let loads = 0
  const cache = createCache({
    namespace: 'big',
    ttl: '10m',
    maxBytes: '16MiB',
    store: await (await connectBig(client, url)).store(),
  })
  const slow: SlowEvent[] = []
  const trouble: string[] = []
  cache.on('slowCodec', ({ name, operation, bytes, ms }) =>
    slow.push({ name, operation, bytes, ms }),
  )
  cache.on('storeFailed', (event) => trouble.push(`storeFailed: ${JSON.stringify(event)}`))
  cache.on('unstorable', ({ path }) => trouble.push(`unstorable: ${path}`))
  cache.on('unreadable', ({ why }) => trouble.push(`unreadable: ${why}`))
  const big = cache.define({
    name: kind === 'buffer' ? 'picture' : 'catalogue',
    load: async (_key: string) => {
      loads += 1
      return (value ??= bigValue(kind))
    },
  })
  const small = cache.define({ name: 'small', load: async (_key: string) => ({ small: true }) })
  while (cache.health().status !== 'ok') await sleep(5)
  await small.get('first')
  await cache.idle()
  // What making the value has left is not the cache's.
  globalThis.gc?.()
  await sleep(20)

  let tier: string | undefined
  let got: Big | undefined
  const found = await held(async () => {
    if (step === 'set') await big.set(key, value!)
    else {
      const looked = await big.lookup(key)
      tier = loads > 0 ? 'load' : 'tier' in looked ? looked.tier : looked.outcome
      got = looked.value
    }
    await cache.idle()
  })
  if (got !== undefined) check(got, value ?? bigValue(kind))
  return { ...found, tier, slow, trouble }
}

function check(found: Readonly<ArrayLike<unknown>>, value: Readonly<ArrayLike<unknown>>): void {
  deepStrictEqual(found.length, value.length)
  for (const at of [0, value.length >> 1, value.length - 1]) deepStrictEqual(found[at], value[at])
}
