// What is answered while a process or Redis dies.

import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { startRedisServer, type RedisServer } from '@breakwater/rig'
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest'
import { startWorker, type WorkerProcess } from '../support/worker-process.ts'
import { ask } from './support/raw-client.ts'

interface App {
  readonly worker: WorkerProcess
  readonly port: number
}

let redis: RedisServer
let origin: ReturnType<typeof createServer>
let held: ServerResponse[] = []
let apps: App[] = []
let asked = 0

beforeAll(async () => {
  redis = await startRedisServer()
  origin = createServer((_req, res) => {
    asked++
    held.push(res)
  })
  await new Promise<void>((resolve) => origin.listen(0, '127.0.0.1', resolve))
})
beforeEach(async () => {
  asked = 0
  held = []
  await redis.restart()
})
afterEach(async () => {
  redis.thaw()
  await Promise.all(apps.splice(0).map(({ worker }) => worker.stop()))
})
afterAll(async () => {
  origin.close()
  origin.closeAllConnections()
  await redis.stop()
})

async function start(): Promise<App> {
  const { port } = origin.address() as AddressInfo
  const plan = { url: redis.url, origin: `http://127.0.0.1:${port}` }
  let own = 0
  const worker = await startWorker('http-app.mjs', plan, (told) => {
    if (told.type === 'ready') own = told['port'] as number
  })
  const app = { worker, port: own }
  apps.push(app)
  return app
}

const endAll = (): void => {
  for (const res of held.splice(0)) res.end(`page ${asked}`)
}

it('the process whose visitor runs the application is killed: those of others are answered by one more run', async () => {
  const [one, two] = [await start(), await start()]
  const lost = ask(one.port, '/').catch(() => 'lost')
  await expect.poll(() => asked).toBe(1)
  const others = Promise.all(Array.from({ length: 20 }, () => ask(two.port, '/')))
  await new Promise((resolve) => setTimeout(resolve, 100))
  await one.worker.kill()
  apps = [two]
  await lost
  await expect.poll(() => asked).toBe(2)
  endAll()
  for (const got of await others) expect([got.status, got.body.toString()]).toEqual([200, 'page 2'])
})

it.each(['killed', 'frozen'] as const)('Redis is %s: every visitor is answered', async (how) => {
  const app = await start()
  const first = ask(app.port, '/kept')
  await expect.poll(() => asked).toBe(1)
  endAll()
  expect(await first).toMatchObject({ status: 200 })
  if (how === 'killed') await redis.kill()
  else redis.freeze()
  expect((await ask(app.port, '/kept')).body.toString()).toBe('page 1')
  const cold = Promise.all(Array.from({ length: 20 }, () => ask(app.port, '/cold')))
  await expect.poll(() => asked).toBe(2)
  endAll()
  for (const got of await cold) expect([got.status, got.body.toString()]).toEqual([200, 'page 2'])
  const posted = ask(app.port, '/kept', { method: 'POST', body: 'x' })
  await expect.poll(() => asked).toBe(3)
  endAll()
  expect(await posted).toMatchObject({ status: 200 })
})
