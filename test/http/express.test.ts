// What only a framework of layers has: what stands before the cache, what behind it, and where it is mounted.

import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { gunzipSync } from 'node:zlib'
import compression from 'compression'
import express, { type RequestHandler } from 'express'
import express4 from 'express4'
import { afterEach, describe, expect, it } from 'vitest'
import { createCache } from '../../src/index.ts'
import { httpCache, type HttpCacheOptions } from '../../src/adapters/express.ts'
import { ask } from './support/raw-client.ts'

const open: { close(): unknown }[] = []
afterEach(async () => {
  await Promise.all(open.splice(0).map((one) => one.close()))
})

function newCache(options: object = {}) {
  const cache = createCache({
    namespace: 'express',
    ttl: '60s',
    jitter: 0,
    earlyRefresh: false,
    ...options,
  })
  open.push(cache)
  return cache
}

async function listen(app: ReturnType<typeof express>): Promise<number> {
  const server = createServer(app)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  open.push({
    close: () => {
      server.closeAllConnections()
      return new Promise((resolve) => server.close(resolve))
    },
  })
  return (server.address() as AddressInfo).port
}

describe.each([
  ['Express 5', express],
  ['Express 4', express4 as unknown as typeof express],
])('%s', (_name, make) => {
  const cached = (options: Partial<HttpCacheOptions> = {}) =>
    httpCache({ cache: newCache(), ...options })
  const page = 'a page that is long enough to be compressed '.repeat(100)

  it.each(['before the cache', 'after it'])(
    'T138 what a compression makes is decoded by those who accept it, and nobody else is sent it: %s',
    async (where) => {
      const app = make()
      const layers = [compression() as RequestHandler, cached()]
      app.use(...(where === 'before the cache' ? layers : layers.toReversed()))
      let runs = 0
      app.get('/', (_req, res) => {
        runs++
        res.type('text/html').send(page)
      })
      const port = await listen(app)
      for (let round = 0; round < 2; round++) {
        const coded = await ask(port, '/', { headers: { 'Accept-Encoding': 'gzip' } })
        expect(coded.field('content-encoding')).toBe('gzip')
        expect(gunzipSync(coded.body).toString()).toBe(page)
        expect(coded.field('vary')?.toLowerCase()).toContain('accept-encoding')
        const plain = await ask(port, '/')
        expect(plain.field('content-encoding')).toBeUndefined()
        expect(plain.body.toString()).toBe(page)
        const refused = await ask(port, '/', {
          headers: { 'Accept-Encoding': 'gzip;q=0, identity' },
        })
        expect(refused.body.toString()).toBe(page)
      }
      expect(runs).toBeLessThanOrEqual(3)
    },
  )

  it('T148 two mounts of one router never share', async () => {
    const app = make()
    const shared = cached()
    for (const prefix of ['/one', '/two']) {
      const router = make.Router()
      router.use(shared)
      router.get(
        '/file',
        (req, res) => void res.send(`${req.baseUrl} ${req.url} ${req.originalUrl}`),
      )
      app.use(prefix, router)
    }
    const port = await listen(app)
    for (let round = 0; round < 2; round++) {
      for (const prefix of ['/one', '/two']) {
        const got = await ask(port, `${prefix}/file?a=1`)
        expect(got.body.toString()).toBe(`${prefix} /file?a=1 ${prefix}/file?a=1`)
      }
    }
  })

  it('T148 under a mount the application does not see what is ignored', async () => {
    const app = make()
    app.use('/shop', cached({ query: { ignore: ['utm_*'] } }))
    app.get('/shop/item', (req, res) => void res.json({ url: req.originalUrl, query: req.query }))
    const port = await listen(app)
    const got = await ask(port, '/shop/item?utm_source=x&id=1')
    expect(JSON.parse(got.body.toString())).toEqual({ url: '/shop/item?id=1', query: { id: '1' } })
  })

  it('a cookie that a layer sets at the last moment keeps the answer from being stored', async () => {
    const app = make()
    app.use(cached())
    let visitor = 0
    // As cookie-session does it: it waits for the head to be written.
    app.use((_req, res, next) => {
      const { writeHead } = res
      res.writeHead = function (this: typeof res, ...args: unknown[]) {
        res.setHeader('Set-Cookie', `id=${++visitor}`)
        return Reflect.apply(writeHead, this, args)
      } as typeof writeHead
      next()
    })
    app.get('/', (_req, res) => void res.send('page'))
    const port = await listen(app)
    expect((await ask(port, '/')).field('set-cookie')).toBe('id=1')
    expect((await ask(port, '/')).field('set-cookie')).toBe('id=2')
  })

  it('what stands before the cache is of each request, and not kept', async () => {
    const app = make()
    let n = 0
    app.use((_req, res, next) => {
      res.setHeader('X-Request-Id', String(++n))
      res.setHeader('Vary', 'Origin')
      next()
    })
    app.use(cached())
    app.get('/', (_req, res) => void res.vary('Accept').send('page'))
    const port = await listen(app)
    expect((await ask(port, '/')).field('x-request-id')).toBe('1')
    const again = await ask(port, '/')
    expect(again.field('x-request-id')).toBe('2')
    expect(again.field('cache-status')).toContain('hit')
    expect(again.field('vary')).toBe('Origin, Accept')
  })

  it('an error of the application is its visitor’s own', async () => {
    const app = make()
    app.use(cached())
    let runs = 0
    app.get('/', () => {
      runs++
      throw new Error('no')
    })
    app.use(((_error, _req, res, _next) => {
      res.status(500).send('sorry')
    }) as express.ErrorRequestHandler)
    const port = await listen(app)
    for (let n = 1; n <= 2; n++) {
      expect(await ask(port, '/')).toMatchObject({ status: 500, isWhole: true })
      expect(runs).toBe(n)
    }
  })

  it('a refresh goes through the layers before, and one that refuses it leaves what is kept', async () => {
    const app = make()
    let refused = 0
    app.use((req, res, next) => {
      if (req.headers['user-agent'] !== undefined) return next()
      refused++
      res.status(401).send('who are you?')
    })
    app.use(cached({ ttl: '20ms', staleWhileRevalidate: '60s' }))
    app.get('/', (_req, res) => void res.send('page'))
    const port = await listen(app)
    await expect
      .poll(async () => {
        const got = await ask(port, '/', { headers: { 'User-Agent': 'x' } })
        expect(got.body.toString()).toBe('page')
        return refused
      })
      .toBeGreaterThan(0)
    expect((await ask(port, '/', { headers: { 'User-Agent': 'x' } })).body.toString()).toBe('page')
  })

  it('an application that is slower than its own freshness is protected all the same', async () => {
    const app = make()
    app.use(cached())
    let runs = 0
    app.get('/', (_req, res) => {
      runs++
      res.set('Cache-Control', 'max-age=1, stale-while-revalidate=60')
      setTimeout(() => res.send('page'), 1_100)
    })
    const port = await listen(app)
    await ask(port, '/')
    expect((await ask(port, '/')).field('cache-status')).toContain('hit')
    expect(runs).toBeLessThanOrEqual(2)
  })

  it('what a layer before the cache puts into the request counts as if it had come', async () => {
    const app = make()
    app.use((req, _res, next) => {
      const { as } = req.query
      if (typeof as === 'string') req.headers['x-user-id'] = as
      next()
    })
    app.use(cached({ query: { ignore: ['as'] } }))
    app.get('/', (req, res) => void res.send(`for ${String(req.headers['x-user-id'] ?? 'all')}`))
    const port = await listen(app)
    expect((await ask(port, '/?as=a')).body.toString()).toBe('for a')
    expect((await ask(port, '/')).body.toString()).toBe('for all')
    expect((await ask(port, '/?as=b')).body.toString()).toBe('for b')
  })

  it('more visitors than the cache lets to the source at once wait, and then hear that it is too much', async () => {
    const cache = newCache({ limit: { concurrency: 1, queue: 50 } })
    const app = make()
    app.use(httpCache({ cache }))
    const ends: (() => void)[] = []
    app.get('/:id', (_req, res) => void ends.push(() => res.send('page')))
    const port = await listen(app)
    const first = ask(port, '/1')
    await expect.poll(() => ends.length).toBe(1)
    const second = await ask(port, '/2')
    expect(second).toMatchObject({ status: 503 })
    expect(second.field('retry-after')).toBe('1')
    ends[0]!()
    expect(await first).toMatchObject({ status: 200 })
  })
})

it.each([
  [{ ttl: -1 }, 'ttl'],
  [{ tll: '1s' }, 'tll: unknown option, did you mean ttl?'],
  [{ cache: {} }, 'cache'],
  [{ statuses: [500] }, 'statuses'],
  [{ storeSetCookie: true }, 'storeSetCookie'],
  [{ query: { ignore: ['a'], only: ['b'] } }, 'query'],
  [{ purge: { token: 'short' } }, 'purge.token'],
  [{ vary: 'accept' }, 'vary'],
  [{ cacheStatus: 'ünknown' }, 'cacheStatus'],
] as never[])('%o is refused', (options: object, named: string) => {
  expect(() => httpCache({ cache: newCache(), ...options })).toThrow(named)
})

describe('an older answer in place of a failure', () => {
  it('is given to those alone whom it was chosen for; others get the failure, once', async () => {
    const app = express()
    app.use(httpCache({ cache: newCache(), ttl: '20ms', staleIfError: '60s' }))
    let isDown = false
    let runs = 0
    app.get('/', (req, res) => {
      runs++
      res.vary('Accept-Language').status(isDown ? 503 : 200)
      res.send(`in ${req.headers['accept-language']}`)
    })
    const port = await listen(app)
    const read = (language: string) => ask(port, '/', { headers: { 'Accept-Language': language } })
    await read('en')
    isDown = true
    await new Promise((resolve) => setTimeout(resolve, 40))
    const other = await read('fr')
    expect(other).toMatchObject({ status: 503, isWhole: true })
    expect(other.body.toString()).toBe('in fr')
    expect(runs).toBe(2)
    expect((await read('en')).body.toString()).toBe('in en')
  })

  it('has none of the failure’s fields', async () => {
    const app = express()
    app.use(httpCache({ cache: newCache(), ttl: '20ms', staleIfError: '60s' }))
    let isDown = false
    app.get('/', (_req, res) => {
      if (!isDown) return void res.type('text/plain').send('page')
      res.set({
        'Content-Encoding': 'gzip',
        'X-Failure': 'yes',
        'Content-Type': 'application/json',
      })
      res.status(503).end(Buffer.from([31, 139]))
    })
    const port = await listen(app)
    await ask(port, '/')
    isDown = true
    await new Promise((resolve) => setTimeout(resolve, 40))
    const covered = await ask(port, '/')
    expect(covered).toMatchObject({ status: 200, isWhole: true })
    expect(covered.body.toString()).toBe('page')
    expect(covered.field('content-type')).toBe('text/plain; charset=utf-8')
    expect(covered.field('content-encoding')).toBeUndefined()
    expect(covered.field('x-failure')).toBeUndefined()
  })
})

it('what an application does to its buffer afterwards does not change what is kept', async () => {
  const app = express()
  app.use(httpCache({ cache: newCache() }))
  app.get('/', (_req, res) => {
    const scratch = Buffer.from('page')
    res.write(scratch, () => {
      scratch.fill('x')
      res.end()
    })
  })
  const port = await listen(app)
  for (let n = 0; n < 2; n++) expect((await ask(port, '/')).body.toString()).toBe('page')
})
