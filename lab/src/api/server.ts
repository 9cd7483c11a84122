// One API process: the hot endpoint goes through the contender's cache, the unrelated one straight
// to the database through the same pool, a write changes the data and invalidates. Ends with its
// parent.

import Fastify from 'fastify'
import type { Contender } from '../contenders/contender.ts'
import { createContender } from '../contenders/create-contender.ts'
import { type CountedDatabase, openDatabase } from './counted-database.ts'
import { type ApiCommand, type ApiReport, type ApiSettings, wallClock } from './messages.ts'
import { announce } from './targets.ts'
import { openTelemetry } from './telemetry.ts'

process.on('disconnect', () => process.exit(0))
let database: CountedDatabase | undefined
process.on('message', (command: ApiCommand) => {
  switch (command.kind) {
    case 'start':
      start(command.settings).catch((error: unknown) => {
        report({ kind: 'failed', reason: error instanceof Error ? error.message : String(error) })
      })
      return
    case 'slow':
      database?.slow(command.moreMs)
  }
})

function report(message: ApiReport): void {
  if (process.connected) process.send?.(message, () => undefined)
}

async function start(settings: ApiSettings): Promise<void> {
  const shop = await openDatabase(settings, report)
  database = shop
  const contender = await createContender(settings, shop.trending, (change) => {
    report({ kind: 'lease', change, at: wallClock() })
  })
  const telemetry = await openTelemetry(contender.cache)
  reportHealth(contender)
  const api = Fastify({ keepAliveTimeout: 60_000 })

  api.get<{ Params: { category: string } }>('/trending/:category', ({ params }) =>
    telemetry.request('GET /trending/:category', () => contender.trending(params.category)),
  )
  api.get<{ Params: { id: string } }>('/products/:id', ({ params }) =>
    shop.product(Number(params.id)),
  )
  api.post<{ Params: { category: string } }>('/trending/:category/write', async ({ params }) => {
    const revision = await shop.touch(params.category)
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

/** Only what is new: it is looked at often and changes seldom. */
function reportHealth({ health }: Contender): void {
  if (health === undefined) return
  let told = ''
  setInterval(() => {
    const { store, bus } = health()
    if (told === `${store} ${bus}`) return
    told = `${store} ${bus}`
    report({ kind: 'health', health: { store, bus } })
  }, 100)
}
