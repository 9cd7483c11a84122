// What is Hono's and Fetch's own: sub-applications, layers on both sides, bodies as streams.

import type { Server } from 'node:http'
import { gunzipSync } from 'node:zlib'
import { createAdaptorServer } from '@hono/node-server'
import { Hono } from 'hono'
import { compress } from 'hono/compress'
import { cors } from 'hono/cors'
import { HTTPException } from 'hono/http-exception'
import { afterEach, describe, expect, it } from 'vitest'
import { withHttpCache } from '../../src/adapters/fetch.ts'
import { httpCache, type HonoHttpCacheOptions } from '../../src/adapters/hono.ts'
import { createCache, type Cache } from '../../src/index.ts'
import { listening } from './support/apps.ts'
import { ask, hash } from './support/raw-client.ts'

const open: { close(): Promise<void> }[] = []
afterEach(async () => {
  await Promise.all(open.splice(0).map((one) => one.close()))
})

function newCache(): Cache {
  const cache = createCache({ namespace: 'hono', ttl: '60s', jitter: 0, earlyRefresh: false })
  open.push(cache)
  return cache
}

async function served(fetch: (request: Request) => Response | Promise<Response>): Promise<number> {
  const none = { purge: async () => {}, purgeTags: async () => {} }
  const started = await listening(createAdaptorServer({ fetch }) as Server, none)
  open.push(started)
  return started.port
}

/** The application's own part, behind a cache. */
function cachedApp(
  options: Partial<HonoHttpCacheOptions> = {},
  outside: (app: Hono) => void = () => {},
): Hono {
  const app = new Hono()
  outside(app)
  app.use(httpCache({ cache: newCache(), fetch: (request) => app.fetch(request), ...options }))
  return app
}

const bytes = (text: string): Uint8Array => Buffer.from(text)

describe('httpCache for Hono', () => {
  it('T148 sub-applications have entries of their own, and see parameters as ever', async () => {
    const cache = newCache()
    const app = new Hono()
    let runs = 0
    for (const name of ['a', 'b']) {
      const sub = new Hono()
      sub.use(httpCache({ cache, query: { ignore: ['utm_*'] } }))
      sub.get('/file/:id', (c) =>
        c.text(`${name} ${c.req.param('id')} ${c.req.query('x')} ${++runs}`),
      )
      app.route(`/${name}`, sub)
    }
    const port = await served(app.fetch)
    const read = async (path: string): Promise<string> => (await ask(port, path)).body.toString()
    expect(await read('/a/file/7?x=1&utm_source=y')).toBe('a 7 1 1')
    expect(await read('/b/file/7?x=1')).toBe('b 7 1 2')
    expect(await read('/a/file/7?x=1')).toBe('a 7 1 1')
    expect(await read('/b/file/7?utm_source=z&x=1')).toBe('b 7 1 2')
  })

  it('what layers further out do is theirs, and done at each hit', async () => {
    let visits = 0
    let runs = 0
    const app = cachedApp({}, (outer) => {
      outer.use(cors({ origin: (origin) => origin }))
      outer.use(async (c, next) => {
        c.header('X-Before', String(++visits))
        await next()
        c.header('X-After', String(visits))
        c.header('Set-Cookie', `visit=${visits}`, { append: true })
      })
    })
    app.get('/', (c) => {
      c.header('X-Inside', String(++runs))
      return c.json({ runs })
    })
    const port = await served(app.fetch)
    for (const visit of ['1', '2', '3']) {
      const got = await ask(port, '/', { headers: { Origin: `http://${visit}.test` } })
      expect(got.body.toString()).toBe('{"runs":1}')
      expect(got.field('content-type')).toBe('application/json')
      expect(['x-before', 'x-after', 'x-inside'].map(got.field)).toEqual([visit, visit, '1'])
      expect(got.field('set-cookie')).toBe(`visit=${visit}`)
      expect(got.field('access-control-allow-origin')).toBe(`http://${visit}.test`)
      expect(got.field('vary')?.toLowerCase()).toBe('origin')
    }
  })

  it('a field of a layer further out is overridden further in, on a miss as on a hit', async () => {
    const app = cachedApp({}, (outer) => {
      outer.use(async (c, next) => {
        c.header('Cache-Control', 'no-cache')
        c.header('X-Before', '1')
        await next()
      })
    })
    app.get('/', (c) => c.text('x', 200, { 'Cache-Control': 'max-age=60' }))
    const port = await served(app.fetch)
    for (const status of [/fwd/, /hit/]) {
      const got = await ask(port, '/')
      expect(['cache-control', 'x-before'].map(got.field)).toEqual(['max-age=60', '1'])
      expect(got.field('cache-status')).toMatch(status)
    }
  })

  it('T138 compression further out codes what is kept plain; further in, what is kept is coded', async () => {
    const text = 'word '.repeat(1000)
    for (const side of ['outside', 'inside']) {
      const app = cachedApp({}, (outer) => side === 'outside' && outer.use(compress()))
      if (side === 'inside') app.use(compress())
      app.get('/', (c) => c.text(text))
      const port = await served(app.fetch)
      for (let n = 0; n < 2; n++) {
        const coded = await ask(port, '/', { headers: { 'Accept-Encoding': 'gzip' } })
        expect([side, n, coded.field('content-encoding')]).toEqual([side, n, 'gzip'])
        expect(hash(gunzipSync(coded.body))).toBe(hash(text))
        const plain = await ask(port, '/')
        expect(plain.field('content-encoding')).toBeUndefined()
        expect(hash(plain.body)).toBe(hash(text))
      }
    }
  })

  it('what is thrown is answered as ever, and is covered by an older answer', async () => {
    let isBroken = true
    const app = cachedApp({ ttl: '50ms', staleIfError: '60s' })
    app.get('/', (c) => {
      if (isBroken) throw new Error('broken')
      return c.text('page')
    })
    app.get('/gone', () => {
      throw new HTTPException(404, { message: 'no such thing' })
    })
    app.onError((error, c) =>
      error instanceof HTTPException ? error.getResponse() : c.text('sorry', 500),
    )
    const port = await served(app.fetch)
    expect((await ask(port, '/')).body.toString()).toBe('sorry')
    const gone = await ask(port, '/gone')
    expect([gone.status, gone.body.toString()]).toEqual([404, 'no such thing'])
    isBroken = false
    expect((await ask(port, '/')).body.toString()).toBe('page')
    isBroken = true
    await new Promise((resolve) => setTimeout(resolve, 80))
    const covered = await ask(port, '/')
    expect([covered.status, covered.body.toString()]).toEqual([200, 'page'])
  })

  it('T150 without `fetch` the next visitor loads what is stale', async () => {
    let runs = 0
    const app = cachedApp({ fetch: undefined, ttl: '50ms', staleWhileRevalidate: '60s' })
    app.get('/', (c) => c.text(String(++runs)))
    const port = await served(app.fetch)
    expect((await ask(port, '/')).body.toString()).toBe('1')
    await new Promise((resolve) => setTimeout(resolve, 80))
    expect((await ask(port, '/')).body.toString()).toBe('2')
  })

  it('T150 a refresh goes through the layers further out; one that refuses it ends it', async () => {
    let runs = 0
    let isOpen = true
    const app = cachedApp({ ttl: '50ms', staleWhileRevalidate: '60s' }, (outer) => {
      outer.use(async (c, next) => (isOpen || c.req.header('x-visit') ? next() : c.text('no', 403)))
    })
    app.get('/', (c) => c.text(String(++runs)))
    const port = await served(app.fetch)
    const read = async (): Promise<string> =>
      (await ask(port, '/', { headers: { 'X-Visit': '1' } })).body.toString()
    expect(await read()).toBe('1')
    isOpen = false
    await new Promise((resolve) => setTimeout(resolve, 80))
    for (let n = 0; n < 5; n++) expect(await read()).toBe('1')
    expect(runs).toBe(1)
  })

  it('thirty visitors of a slow stream are given one run of it, first bytes at once', async () => {
    let runs = 0
    let finish = (): void => {}
    const app = cachedApp()
    app.get('/', (c) => {
      runs++
      return c.body(
        new ReadableStream({
          start(controller) {
            controller.enqueue(bytes('begun'))
            finish = () => {
              controller.enqueue(bytes(' and done'))
              controller.close()
            }
          },
        }),
      )
    })
    const port = await served(app.fetch)
    const first = await ask(port, '/', { leaveWhen: 'begun' })
    expect(first.body.toString('latin1')).toContain('begun')
    // Who leaves ends nothing: it is read on for those who come.
    const all = Promise.all(Array.from({ length: 30 }, () => ask(port, '/')))
    setTimeout(() => finish(), 100)
    for (const one of await all) expect(one.body.toString()).toBe('begun and done')
    expect(runs).toBe(1)
  })

  it('T141 a body that errors breaks for its visitor, and nobody else is given it', async () => {
    let runs = 0
    const app = cachedApp()
    app.get('/', (c) => {
      const run = ++runs
      return c.body(
        new ReadableStream({
          start(controller) {
            controller.enqueue(bytes('half'))
            setTimeout(() => {
              if (run === 1) return controller.error(new TypeError('broke'))
              controller.enqueue(bytes(' and half'))
              controller.close()
            }, 50)
          },
        }),
      )
    })
    const port = await served(app.fetch)
    const got = await Promise.all([0, 1, 2].map(() => ask(port, '/')))
    const whole = got.filter(({ isWhole }) => isWhole)
    expect(whole.map(({ body }) => body.toString())).toEqual(['half and half', 'half and half'])
    expect(runs).toBe(2)
  })

  it('T151 a body that is not kept is read at its visitor’s pace, and no longer than he stays', async () => {
    let parts = 0
    let isCancelled = false
    const handler = withHttpCache(
      () =>
        new Response(
          new ReadableStream({
            pull(controller) {
              parts++
              controller.enqueue(new Uint8Array(1024))
            },
            cancel() {
              isCancelled = true
            },
          }),
        ),
      { cache: newCache(), maxBodySize: '8KiB' },
    )
    const response = await handler(new Request('http://shop.test/'))
    const reader = response.body!.getReader()
    await reader.read()
    await new Promise((resolve) => setTimeout(resolve, 50))
    expect(parts).toBeGreaterThan(7)
    expect(parts).toBeLessThan(15)
    await reader.cancel()
    expect(isCancelled).toBe(true)
  })

  it('a visitor’s several cookies are kept for him, line by line', async () => {
    let runs = 0
    const app = cachedApp({
      user: ({ fields }) => fields['authorization'] as string | undefined,
      storeSetCookie: true,
    })
    app.get('/', (c) => {
      runs++
      c.header('Set-Cookie', 'a=1', { append: true })
      c.header('Set-Cookie', 'b=2', { append: true })
      return c.text('his')
    })
    const port = await served(app.fetch)
    for (let n = 0; n < 2; n++) {
      const { lines } = await ask(port, '/', { headers: { Authorization: 'x' } })
      const cookies = lines.filter(([name]) => name.toLowerCase() === 'set-cookie')
      expect(cookies.map(([, value]) => value)).toEqual(['a=1', 'b=2'])
    }
    expect(runs).toBe(1)
  })
})

describe('withHttpCache', () => {
  it('gives the handler what the server gives, but a refresh no visitor’s own', async () => {
    const seen: unknown[] = []
    const handler = withHttpCache(
      (_request: Request, env: { name: string; incoming?: string }) => {
        seen.push(env)
        return new Response('x')
      },
      { cache: newCache(), ttl: '30ms', staleWhileRevalidate: '60s' },
    )
    const request = (): Request => new Request('http://shop.test/')
    await handler(request(), { name: 'env', incoming: 'his' })
    await new Promise((resolve) => setTimeout(resolve, 60))
    await handler(request(), { name: 'env', incoming: 'hers' })
    await expect.poll(() => seen.length, { interval: 5 }).toBe(2)
    expect(seen).toEqual([{ name: 'env', incoming: 'his' }, {}])
  })

  it('one answer without a body may be given again and again', async () => {
    const found = new Response(null, { headers: { 'Cache-Control': 'private' } })
    const handler = withHttpCache(() => found, { cache: newCache() })
    for (let n = 0; n < 4; n++) {
      const got = await handler(new Request('http://shop.test/'))
      expect(got.headers.get('cache-status')?.split(',')).toHaveLength(1)
    }
    expect(found.headers.get('cache-status')).toBeNull()
  })

  it('what the handler throws is its caller’s', async () => {
    const handler = withHttpCache(
      () => {
        throw new RangeError('mine')
      },
      { cache: newCache() },
    )
    await expect(handler(new Request('http://shop.test/'))).rejects.toThrow(new RangeError('mine'))
  })
})
