// One API process: the hot endpoint goes through the contender's cache, the unrelated one straight
// to the database through the same pool, a write changes the data and invalidates. Ends with its
// parent.

import Fastify from 'fastify'
import { createContender } from '../contenders/create-contender.ts'
import { openDatabase } from './counted-database.ts'
import type { ApiReport, ApiSettings } from './messages.ts'
import { announce } from './targets.ts'
import { openTelemetry } from './telemetry.ts'

process.on('disconnect', () => process.exit(0))
process.once('message', (settings: ApiSettings) => {
  start(settings).catch((error: unknown) => {
    report({ kind: 'failed', reason: error instanceof Error ? error.message : String(error) })
  })
})

function report(message: ApiReport): void {
  if (process.connected) process.send?.(message, () => undefined)
}

async function start(settings: ApiSettings): Promise<void> {
  const database = await openDatabase(settings, report)
  const contender = await createContender(settings, database.trending)
  const telemetry = await openTelemetry(contender.cache)
  const api = Fastify({ keepAliveTimeout: 60_000 })

  api.get<{ Params: { category: string } }>('/trending/:category', ({ params }) =>
    telemetry.request('GET /trending/:category', () => contender.trending(params.category)),
  )
  api.get<{ Params: { id: string } }>('/products/:id', ({ params }) =>
    database.product(Number(params.id)),
  )
  api.post<{ Params: { category: string } }>('/trending/:category/write', async ({ params }) => {
    const revision = await database.touch(params.category)
    await contender.invalidate(params.category)
    return { revision }
  })

  api.get('/metrics', async (_, reply) => {
    const { type, text } = await telemetry.scrape()
    return reply.type(type).send(text)
  })

  await api.listen({ host: '127.0.0.1', port: 0 })
  const address = api.server.address()
  if (address === null || typeof address === 'string') throw new Error('expected a TCP port')
  announce(address.port, { contender: settings.contender })
  report({ kind: 'listening', port: address.port })
}
