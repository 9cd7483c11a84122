// An HTTP server with a cache that ends as docs/reliability.md says when it gets SIGTERM.

import { createServer } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { createCache } from 'breakwater'
import { Redis } from 'ioredis'
import { createClient } from 'redis'

const { library, namespace, connection, loadMs, drainMs, closeMs, storeTimeout } = JSON.parse(
  process.argv[2],
)

async function open() {
  if (library === 'ioredis') {
    const { redisStore } = await import('breakwater/ioredis')
    const client = new Redis(connection)
    client.on('error', () => {})
    return { store: redisStore({ client }), end: () => client.disconnect() }
  }
  const { redisStore } = await import('breakwater/node-redis')
  const client = createClient({ socket: connection })
  client.on('error', () => {})
  await client.connect()
  return { store: redisStore({ client }), end: () => client.destroy() }
}

const { store, end } = await open()
const cache = createCache({ namespace, ttl: '1h', store, storeTimeout })
const item = cache.define({
  name: 'item',
  load: async (id) => {
    console.log(`load ${id}`)
    await (loadMs === null ? new Promise(() => {}) : sleep(loadMs))
    return `value ${id}`
  },
})
const server = createServer((request, response) => {
  item.get(request.url.slice(1)).then(
    (value) => response.end(value),
    (error) => response.writeHead(503).end(error.code),
  )
})
server.listen(0, '127.0.0.1', () => console.log(`port ${server.address().port}`))

async function endAll() {
  const served = new Promise((resolve) => server.close(resolve))
  // Connections that are kept alive: each as soon as its request is answered.
  setInterval(() => server.closeIdleConnections(), 50).unref()
  await Promise.race([served, sleep(drainMs, undefined, { ref: false })])
  await cache.close({ timeout: closeMs })
  server.closeAllConnections()
  end()
}
process.once('SIGTERM', () => void endAll())
