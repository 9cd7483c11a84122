// What only Fastify has: scopes, options of routes, hooks, HEAD beside GET, PURGE, a reply of its own.

import { gunzipSync } from 'node:zlib'
import { Readable } from 'node:stream'
import Fastify, { type FastifyInstance } from 'fastify'
import compress from '@fastify/compress'

import { afterEach, describe, expect, it } from 'vitest'
import { httpCache } from '../../src/adapters/fastify.ts'
import { createCache, type Cache } from '../../src/index.ts'
import { ask } from './support/raw-client.ts'

const open: { close(): Promise<unknown> }[] = []
afterEach(async () => {
  await Promise.all(open.splice(0).map((one) => one.close()))
})

function memory(): Cache {
  const cache = createCache({ namespace: 'fastify', ttl: '60s', jitter: 0, earlyRefresh: false })
  open.push(cache)
  return cache
}

function server(): FastifyInstance {
  const app = Fastify({ forceCloseConnections: true })
  open.unshift(app)
  return app
}

async function port(app: FastifyInstance): Promise<number> {
  return Number(new URL(await app.listen({ port: 0, host: '127.0.0.1' })).port)
}

const status = async (at: number, path: string, options = {}): Promise<string> =>
  (await ask(at, path, options)).field('cache-status') ?? 'none'

describe('scopes', () => {
  it('T148 two prefixes never share what they keep', async () => {
    const app = server()
    await app.register(httpCache, { cache: memory() })
    for (const prefix of ['/cached1', '/cached2']) {
      await app.register(
        async (scope) => {
          scope.get('/file', async () => prefix)
        },
        { prefix },
      )
    }
    const at = await port(app)
    for (let n = 0; n < 2; n++) {
      expect((await ask(at, '/cached1/file')).body.toString()).toBe('/cached1')
      expect((await ask(at, '/cached2/file')).body.toString()).toBe('/cached2')
    }
    expect(await status(at, '/cached2/file')).toMatch(/hit/)
  })

  it('outside of the one where it is registered are past it, and the innermost counts', async () => {
    const app = server()
    const cache = memory()
    const purged: (() => Promise<void>)[] = []
    app.get('/none', async () => 'x')
    await app.register(async (scope) => {
      await scope.register(httpCache, { cache, name: 'outer', cacheStatus: 'outer' })
      scope.get('/outer', async () => 'x')
      await scope.register(async (within) => {
        await within.register(httpCache, { cache, name: 'inner', cacheStatus: 'inner' })
        within.get('/inner', async () => 'x')
        purged.push(() => within.httpCache.purge('http://shop.test/inner'))
      })
    })
    const at = await port(app)
    expect(await status(at, '/none')).toBe('none')
    expect(await status(at, '/outer')).toMatch(/^outer;fwd=miss/)
    expect(await status(at, '/inner')).toMatch(/^inner;fwd=miss/)
    expect(await status(at, '/inner')).toMatch(/^inner;hit;ttl=\d+$/)
    await purged[0]!()
    expect(await status(at, '/inner')).toMatch(/^inner;fwd=miss/)
  })
})

describe('options of a route', () => {
  it('override those of the scope, or send it past the cache', async () => {
    const app = server()
    await app.register(httpCache, { cache: memory() })
    app.get('/long', { config: { cache: { ttl: '1h' } } }, async () => 'x')
    app.get('/never', { config: { cache: false } }, async () => 'x')
    const at = await port(app)
    await ask(at, '/long')
    expect(await status(at, '/long')).toMatch(/hit;ttl=3(600|599)$/)
    expect(await status(at, '/never')).toBe('none')
  })

  it('that are wrong are refused when the route is added', async () => {
    const app = server()
    await app.register(httpCache, { cache: memory() })
    const add = (cache: object) => () => app.get('/', { config: { cache } }, async () => 'x')
    expect(add({ tl: '1h' })).toThrow(/cache\.tl: unknown option, did you mean cache\.ttl/)
    expect(add({ name: 'x' })).toThrow(/name: is an option of httpCache/)
    expect(add({ ttl: 'soon' })).toThrow(/cache\.ttl/)
    await expect(async () => Fastify().register(httpCache, {} as never)).rejects.toThrow(
      /^cache: expected what createCache gave/,
    )
    await expect(async () => app.register(httpCache, { cache: memory() })).rejects.toThrow(
      /once in a scope/,
    )
  })

  it('apply to routes that were declared before the plugin had loaded', async () => {
    const app = server()
    void app.register(httpCache, { cache: memory() })
    app.get('/', { config: { cache: { ttl: '1h' } } }, async () => 'x')
    const at = await port(app)
    await ask(at, '/')
    expect(await status(at, '/')).toMatch(/hit;ttl=3(600|599)$/)
    expect((await ask(at, '/?new', { method: 'HEAD' })).field('content-length')).toBe('1')
    expect((await ask(at, '/?new')).body.toString()).toBe('x')
  })
})

describe('hooks', () => {
  it('of logging and metrics run at each request, hit or not', async () => {
    const app = server()
    const statuses: number[] = []
    app.addHook('onResponse', async (_request, reply) => void statuses.push(reply.statusCode))
    await app.register(httpCache, { cache: memory() })
    app.get('/', async () => ({ a: 1 }))
    const at = await port(app)
    for (let n = 0; n < 3; n++) await ask(at, '/')
    await expect.poll(() => statuses).toEqual([200, 200, 200])
  })

  it('that set fields before the cache set them at each request, and only for it', async () => {
    const app = server()
    let n = 0
    app.addHook('onRequest', async (request, reply) => {
      reply.header('x-request', `${++n}`)
      if (request.headers.origin !== undefined) {
        reply.header('access-control-allow-origin', request.headers.origin).header('vary', 'Origin')
      }
    })
    await app.register(httpCache, { cache: memory() })
    app.get('/', async (_request, reply) => {
      reply.header('vary', 'Accept')
      return 'x'
    })
    const at = await port(app)
    const first = await ask(at, '/', { headers: { Origin: 'https://a.test' } })
    expect(first.field('access-control-allow-origin')).toBe('https://a.test')
    const bare = await ask(at, '/')
    expect(bare.field('access-control-allow-origin')).toBeUndefined()
    const other = await ask(at, '/', { headers: { Origin: 'https://b.test' } })
    expect(other.field('access-control-allow-origin')).toBe('https://b.test')
    expect(other.field('cache-status')).toMatch(/hit/)
    expect(other.field('vary')).toBe('Origin, Accept')
    expect([first, bare, other].map((one) => one.field('x-request'))).toEqual(['1', '2', '3'])
  })

  it('that forbid storing are obeyed, whenever they run', async () => {
    const app = server()
    app.addHook('onRequest', async (_request, reply) => {
      reply.header('cache-control', 'no-store')
    })
    await app.register(httpCache, { cache: memory() })
    let n = 0
    app.get('/', async () => `${++n}`)
    const at = await port(app)
    await ask(at, '/')
    expect((await ask(at, '/')).body.toString()).toBe('2')
  })

  it('that refuse before the cache refuse what is kept, too', async () => {
    const app = server()
    app.addHook('onRequest', async (request, reply) => {
      if (request.headers['x-blocked'] !== undefined) return reply.code(403).send('no')
      return undefined
    })
    await app.register(httpCache, { cache: memory() })
    app.get('/', async () => 'x')
    const at = await port(app)
    await ask(at, '/')
    expect(await ask(at, '/', { headers: { 'X-Blocked': '1' } })).toMatchObject({ status: 403 })
    expect(await status(at, '/')).toMatch(/hit/)
  })
})

it('an error that a handler throws is answered as ever, and not kept', async () => {
  const app = server()
  await app.register(httpCache, { cache: memory() })
  let n = 0
  app.get('/', async () => {
    if (++n === 1) throw new Error('broken')
    return { n }
  })
  const at = await port(app)
  const failed = await ask(at, '/')
  expect(failed).toMatchObject({ status: 500 })
  expect(JSON.parse(failed.body.toString())).toMatchObject({ message: 'broken' })
  expect((await ask(at, '/')).body.toString()).toBe('{"n":2}')
  expect(await status(at, '/')).toMatch(/hit/)
})

it('HEAD asks once, of the route that Fastify adds, and GET has the body of it', async () => {
  const app = server()
  await app.register(httpCache, { cache: memory() })
  let n = 0
  app.get('/', async () => ({ n: ++n }))
  app.head('/own', async (_request, reply) => reply.header('x-own', 'a').send())
  app.get('/own', async () => 'body')
  app.get('/past', { config: { cache: false } }, async () => 'body')
  const at = await port(app)
  const head = await ask(at, '/', { method: 'HEAD' })
  expect(head).toMatchObject({ status: 200, isWhole: true })
  expect(head.field('content-length')).toBe('7')
  expect((await ask(at, '/')).body.toString()).toBe('{"n":1}')
  expect((await ask(at, '/past', { method: 'HEAD' })).field('content-length')).toBe('4')
  expect((await ask(at, '/own', { method: 'HEAD' })).field('x-own')).toBe('a')
  expect((await ask(at, '/own')).body.toString()).toBe('body')
})

it('what is ignored of the query is not seen by the handler, parsed or not', async () => {
  const app = server()
  await app.register(httpCache, { cache: memory(), query: { ignore: ['utm_*'] } })
  app.get('/', async ({ query, url, originalUrl }) => ({ query, url, originalUrl }))
  const at = await port(app)
  const got = await ask(at, '/?utm_source=a&b=1')
  expect(JSON.parse(got.body.toString())).toMatchObject({ query: { b: '1' }, url: '/?b=1' })
})

it('T138 a compressed answer is kept as it is, and decoded by those who accept it alone', async () => {
  const app = server()
  await app.register(compress, { threshold: 0, encodings: ['gzip'] })
  await app.register(httpCache, { cache: memory() })
  let n = 0
  app.get('/', async () => ({ n: ++n, text: 'text '.repeat(100) }))
  const at = await port(app)
  const gzip = { headers: { 'Accept-Encoding': 'gzip' } }
  const bodies = []
  for (let round = 0; round < 2; round++) {
    const coded = await ask(at, '/', gzip)
    expect(coded.field('content-encoding')).toBe('gzip')
    bodies.push(gunzipSync(coded.body).toString())
    const plain = await ask(at, '/')
    expect(plain.field('content-encoding')).toBeUndefined()
    bodies.push(plain.body.toString())
  }
  expect(bodies.slice(2)).toEqual(bodies.slice(0, 2))
  expect(n).toBe(2)
})

it('PURGE with the token takes back what is kept of any URL of the scope', async () => {
  const app = server()
  let n = 0
  await app.register(
    async (scope) => {
      await scope.register(httpCache, {
        cache: memory(),
        purge: { token: '0123456789abcdef' },
      })
      scope.get('/a/b', async () => `${++n}`)
      scope.get('/', async () => `${++n}`)
    },
    { prefix: '/shop' },
  )
  const at = await port(app)
  const headers = { Authorization: 'Bearer 0123456789abcdef' }
  for (const url of ['/shop/a/b?x=1', '/shop']) {
    const first = await ask(at, url)
    expect((await ask(at, url)).body.toString()).toBe(first.body.toString())
    expect(await ask(at, url, { method: 'PURGE' })).toMatchObject({ status: 401 })
    expect(await ask(at, url, { method: 'PURGE', headers })).toMatchObject({ status: 200 })
    expect((await ask(at, url)).body.toString()).not.toBe(first.body.toString())
  }
  expect(await ask(at, '/elsewhere', { method: 'PURGE', headers })).toMatchObject({ status: 404 })
})

it('T150 a refresh in the background goes through the hooks, and nowhere', async () => {
  const app = server()
  const seen: (string | undefined)[] = []
  app.addHook('onRequest', async (request) => void seen.push(request.headers.cookie))
  await app.register(httpCache, {
    cache: memory(),
    ttl: '30ms',
    staleWhileRevalidate: '60s',
    ignoreCookies: ['_ga'],
  })
  let n = 0
  app.get('/', async (_request, reply) => reply.send({ n: ++n }))
  const at = await port(app)
  const visits = new Set<string>()
  await expect
    .poll(
      async () => {
        visits.add((await ask(at, '/', { headers: { Cookie: '_ga=1' } })).body.toString())
        return visits.size
      },
      { interval: 10 },
    )
    .toBeGreaterThan(2)
  expect(seen).toContain(undefined)
})

it('T153 a herd is one run of an asynchronous handler, which streams', async () => {
  const app = server()
  await app.register(httpCache, { cache: memory() })
  let n = 0
  app.get('/', async (_request, reply) => {
    n++
    await new Promise((resolve) => setTimeout(resolve, 30))
    return reply.type('text/plain').send(Readable.from(['a'.repeat(1000), 'b'.repeat(1000)]))
  })
  const at = await port(app)
  const got = await Promise.all(Array.from({ length: 20 }, () => ask(at, '/')))
  expect(new Set(got.map((one) => one.body.toString()))).toEqual(
    new Set(['a'.repeat(1000) + 'b'.repeat(1000)]),
  )
  expect(n).toBe(1)
})
