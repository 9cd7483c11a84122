// One Fastify server with one route, in a process of its own, until its parent ends.

import Fastify from 'fastify'
import { createCache } from 'breakwater'
import { httpCache } from 'breakwater/fastify'
import { end, type Listening, type ServerPlan } from './plan.ts'

process.on('disconnect', () => process.exit())
const { kind } = JSON.parse(process.argv[2] ?? '') as ServerPlan
const app = Fastify()
if (kind === 'cached') {
  await app.register(httpCache, { cache: createCache({ namespace: 'bench', ttl: '1h' }) })
}
const product = { id: 'k1', name: 'keyboard', price: 49, tags: ['new', 'wired'], end }
app.get('/products/:id', async () => product)
const address = await app.listen({ port: 0, host: '127.0.0.1' })
const told: Listening = { kind: 'listening', port: Number(new URL(address).port) }
process.send?.(told)
