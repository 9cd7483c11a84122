// A process whose values are made ahead: tells of each load as it begins, and answers what it is asked for.

import { createCache } from 'breakwater'
import { redisStore } from 'breakwater/ioredis'
import { Redis } from 'ioredis'
import { answer } from './answering.mjs'

const { connection, every, ttl, ids, loadMs } = JSON.parse(process.argv[2])
process.on('disconnect', () => process.exit())
const client = new Redis({ ...connection, retryStrategy: () => 50 })
client.on('error', () => {})
const cache = createCache({ namespace: 'ahead', ttl, store: redisStore({ client }) })
const item = cache.define({
  name: 'item',
  async load(id, { reason }) {
    process.send({ type: 'loading', id, reason, at: Date.now() })
    await new Promise((resolve) => setTimeout(resolve, loadMs))
    return { id, at: Date.now() }
  },
  precompute: { every, args: ids, onMiss: 'wait' },
})
answer({
  ask: ({ ids: asked }) =>
    Promise.all(
      asked.map((id) =>
        item.lookup(id).then(
          ({ outcome }) => outcome,
          (error) => `error: ${error.message}`,
        ),
      ),
    ),
})
process.send({ type: 'ready' })
