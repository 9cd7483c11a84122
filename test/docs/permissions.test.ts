// The permissions that docs/errors.md names are enough for all that a cache does.

import { readFileSync } from 'node:fs'
import { startRedisServer, type RedisServer } from '@breakwater/rig'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { createCache } from '../../src/index.ts'
import { redisStore } from '../../src/redis/ioredis.ts'
import { clientsOf, majors } from '../support/ioredis-majors.ts'
import { sleep, until } from '../support/open-session.ts'

const page = readFileSync(new URL('../../docs/errors.md', import.meta.url), 'utf8')
const [, rules = ''] = /^ACL SETUSER (.+)$/m.exec(page) ?? []
let server: RedisServer

beforeAll(async () => {
  server = await startRedisServer()
})
afterAll(() => server.stop())

it.each(majors)('the permissions in docs/errors.md are enough, on $major', async ({ Redis }) => {
  const clients = clientsOf(() => server, Redis)
  await clients.make().call('ACL', 'SETUSER', ...rules.split(' '))
  const failed: unknown[] = []
  const [a, b] = ['a', 'b'].map(() => {
    const client = clients.make({ username: 'app', password: 'password' })
    const cache = createCache({
      namespace: 'shop',
      ttl: '200ms',
      staleWhileRevalidate: '10s',
      memory: false,
      store: redisStore({ client: client as never }),
    })
    cache.on('storeFailed', (event) => failed.push(event))
    return cache
  })
  await until(() => a!.health().status === 'ok' && b!.health().status === 'ok')
  const load = async (name: string, ctx: { previous: unknown; notModified(): never }) => {
    await sleep(50)
    if (name === 'bad') throw new Error('bad')
    return ctx.previous === undefined ? 'x'.repeat(3_000) : ctx.notModified()
  }
  const [pages, same] = [a!, b!].map((cache) => cache.define({ name: 'pages', load }))
  for (const name of ['k', 'k', 'bad']) {
    await Promise.allSettled([pages!.get(name), same!.get(name)])
    await Promise.all([a!.idle(), b!.idle(), sleep(250)])
  }
  await pages!.refresh('k')
  await a!.set('o', 1)
  await a!.expire('o')
  await a!.invalidateMany(['o', 'p'])
  await pages!.get('left', { timeout: 10 }).catch(() => {})
  await Promise.all([a!.close(), b!.close()])
  clients.end()
  expect(failed).toEqual([])
})
