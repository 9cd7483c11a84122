// A client as its documentation makes it, and what can be seen of it from outside.

import type { EventEmitter } from 'node:events'
import type { Store } from 'breakwater'
import type { Client } from './messages.ts'

export interface OpenedClient {
  readonly store: Store
  readonly emitter: Pick<EventEmitter, 'eventNames' | 'listenerCount'>
  end(): void
}

export async function openClient(client: Client, port: number): Promise<OpenedClient> {
  if (client === 'node-redis') {
    const [{ createClient }, { redisStore }] = await Promise.all([
      import('redis'),
      import('breakwater/node-redis'),
    ])
    const redis = createClient({ url: `redis://127.0.0.1:${port}` })
    redis.on('error', () => {})
    await redis.connect()
    return { store: redisStore({ client: redis }), emitter: redis, end: () => redis.destroy() }
  }
  const [{ Redis }, { redisStore }] = await Promise.all([
    import('ioredis'),
    import('breakwater/ioredis'),
  ])
  const redis = new Redis({ host: '127.0.0.1', port })
  redis.on('error', () => {})
  return { store: redisStore({ client: redis }), emitter: redis, end: () => redis.disconnect() }
}
