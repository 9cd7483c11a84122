// One process of a herd: a cache on the Redis it is told, a loader that counts its runs in Redis,
// and as many callers as it is told, all at once. Speaks with its parent over IPC.

import { createCache } from 'breakwater'
import { redisStore } from 'breakwater/ioredis'
import { Redis } from 'ioredis'
import { answer } from './answering.mjs'

const { url, options, definition, loader } = JSON.parse(process.argv[2])
const client = new Redis(url)
const ledger = new Redis(url)
const cache = createCache({
  namespace: 'herd',
  ttl: '60s',
  ...options,
  store: redisStore({ client }),
})
const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms))

const item = cache.define({
  name: 'item',
  load: async (key, ctx) => {
    const run = await ledger.incr(`ledger:${key}`)
    process.send({ type: 'loading', key, run, reason: ctx.reason })
    await sleep(loader.ms)
    if (loader.fails) throw Object.assign(new Error('the source said no'), { code: 'E_SOURCE' })
    return { key, run, source: await ledger.get(`source:${key}`) }
  },
  ...definition,
})

const commands = {
  async get({ key, callers, call }) {
    const begun = performance.now()
    const answers = await Promise.all(
      Array.from({ length: callers }, () =>
        item.get(key, call).then(
          (value) => ({ value, ms: performance.now() - begun }),
          (error) => ({
            error: {
              name: error?.name,
              code: error?.code,
              message: error?.message,
              remote: error?.remote,
            },
            ms: performance.now() - begun,
          }),
        ),
      ),
    )
    return answers
  },
  invalidate: ({ key }) => item.invalidate(key),
  expire: ({ key }) => item.expire(key),
  peek: ({ key }) => item.peek(key),
  counters: () => cache.counters().item,
  health: () => cache.health(),
  idle: () => cache.idle(),
  async close() {
    await cache.close()
    await client.quit()
    await ledger.quit()
    setImmediate(() => process.disconnect())
  },
}

answer(commands)
while (cache.health().bus !== 'up') await sleep(5)
process.send({ type: 'ready' })
