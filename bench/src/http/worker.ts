// One process with the same slow application twice: by itself, and behind the response cache.

import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createCache } from 'breakwater'
import { httpCache } from 'breakwater/http'
import { redisStore } from 'breakwater/ioredis'
import { Redis } from 'ioredis'
import type { FromApp, Plan } from './messages.ts'

const plan = JSON.parse(process.argv[2]!) as Plan
const cache = createCache({
  namespace: 'http-waves',
  ttl: '60s',
  storeTimeout: '5s',
  store: redisStore({ client: new Redis(plan.url) }),
})
const cached = httpCache({ cache })
let runs = 0

function application(req: IncomingMessage, res: ServerResponse): void {
  runs += 1
  setTimeout(() => {
    const isPrivate = req.url!.startsWith('/private')
    res.setHeader('cache-control', isPrivate ? 'private' : 's-maxage=60')
    res.end(isPrivate ? `for ${String(req.headers['x-visitor'])}` : 'page')
  }, plan.loadMs)
}

const direct = createServer(application)
const behind = createServer((req, res) => cached(req, res, () => application(req, res)))
const portOf = async (server: typeof direct): Promise<number> => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', 2_000, resolve))
  return (server.address() as AddressInfo).port
}
const send = (message: FromApp): void => void process.send!(message)

process.on('message', () => {
  send({ kind: 'runs', runs })
  runs = 0
})
const ports = { direct: await portOf(direct), behind: await portOf(behind) }
while (cache.health().bus !== 'up') await new Promise((resolve) => setTimeout(resolve, 5))
send({ kind: 'ready', ...ports })
