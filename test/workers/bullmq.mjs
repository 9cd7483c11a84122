// One process of a fleet that makes values ahead by BullMQ: a cache and a queue on the Redis it is
// told, a loader that keeps a ledger there. Speaks with its parent over IPC.

import { createCache } from 'breakwater'
import { bullmqPrecompute } from 'breakwater/bullmq'
import { redisStore } from 'breakwater/ioredis'
import { Redis } from 'ioredis'
import { answer } from './answering.mjs'

const {
  port,
  queuePort = port,
  cacheOptions,
  definition,
  jobs,
  loader = {},
  bystander,
} = JSON.parse(process.argv[2])
const client = new Redis({ port })
const ledger = new Redis({ port })
for (const one of [client, ledger]) one.on('error', () => {})
const cache = createCache({
  namespace: 'fleet',
  ttl: '1h',
  ...cacheOptions,
  precompute: false,
  store: redisStore({ client }),
})
const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms))

const { precompute, ...rest } = definition
const { functionArgs, onMiss } = precompute
const item = cache.define({
  name: 'item',
  load: async (arg, ctx) => {
    const at = Date.now()
    const run = await ledger.rpush(
      `ledger:${arg}`,
      JSON.stringify({ at, pid: process.pid, reason: ctx.reason }),
    )
    process.send({ type: 'loading', arg, run, reason: ctx.reason })
    await sleep(loader.ms ?? 5)
    const failing = Number((await ledger.get('failing')) ?? 0)
    if (failing > 0) {
      await ledger.decr('failing')
      throw new Error('the source said no')
    }
    return { arg, run, pid: process.pid }
  },
  ...rest,
  precompute: {
    ...precompute,
    functionArgs: undefined,
    ...(functionArgs === undefined ? {} : { args: async () => functionArgs }),
    ...(onMiss === 'placeholder' ? { placeholder: () => ({ placeholder: true }) } : {}),
  },
})

const events = []
for (const name of ['alert', 'loadFailed', 'storeFailed', 'callbackFailed']) {
  cache.on(name, (event) =>
    events.push({
      event: name,
      ...event,
      error: event.error === undefined ? undefined : String(event.error),
    }),
  )
}
const queue =
  bystander === true
    ? undefined
    : bullmqPrecompute({ cache, connection: { port: queuePort }, ...jobs })

const commands = {
  get: ({ arg, callers = 1, call }) =>
    Promise.all(
      Array.from({ length: callers }, () =>
        item.get(arg, call).then(
          (value) => ({ value }),
          (error) => ({ error: error.code ?? String(error) }),
        ),
      ),
    ),
  peek: ({ arg }) => item.peek(arg),
  invalidate: ({ arg }) => item.invalidate(arg),
  switchTo: ({ mode }) => cache.switchTo(mode),
  health: () => cache.health(),
  counters: () => cache.counters().item,
  events: () => events,
  async close() {
    await cache.close()
    await client.quit()
    await ledger.quit()
    setImmediate(() => process.disconnect())
  },
}

answer(commands)
while (cache.health().bus !== 'up') await sleep(5)
await queue?.ready
process.send({ type: 'ready' })
