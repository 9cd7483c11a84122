// Clients with the options that their documentation starts with, which need not be connected yet:
// a Redis that starts late is not waited for.

import type { Store } from 'breakwater'
import type { OutageClient } from './plan.ts'

export interface Connected {
  readonly store: Store
  disconnect(): void
}

export async function storeBy(client: OutageClient, port: number): Promise<Connected> {
  const ignore = (): void => {}
  if (client === 'redis5') {
    const [{ createClient }, { redisStore }] = await Promise.all([
      import('redis'),
      import('breakwater/node-redis'),
    ])
    const redis = createClient({ url: `redis://127.0.0.1:${port}` })
    redis.on('error', ignore)
    redis.connect().catch(ignore)
    return { store: redisStore({ client: redis }), disconnect: () => redis.destroy() }
  }
  const [{ Redis }, { redisStore }] = await Promise.all([
    import('ioredis6'),
    import('breakwater/ioredis'),
  ])
  const redis = new Redis({ host: '127.0.0.1', port })
  redis.on('error', ignore)
  return { store: redisStore({ client: redis }), disconnect: () => redis.disconnect() }
}
