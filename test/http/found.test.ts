// What attacks on the response caches have found, each as a sentence that is true of a correct cache.

import { AsyncLocalStorage } from 'node:async_hooks'
import { execFile } from 'node:child_process'
import { createServer, type RequestListener, type Server } from 'node:http'
import { connect as connectHttp2, createServer as createHttp2Server } from 'node:http2'
import { createServer as createTlsServer, get } from 'node:https'
import { connect, type AddressInfo } from 'node:net'
import { pipeline, Readable } from 'node:stream'
import { text as streamText } from 'node:stream/consumers'
import type { TLSSocket } from 'node:tls'
import { promisify } from 'node:util'
import { createAdaptorServer } from '@hono/node-server'
import express, { type RequestHandler } from 'express'
import express4 from 'express4'
import Fastify from 'fastify'
import { Hono } from 'hono'
import Koa from 'koa'
import { afterEach, describe, expect, it } from 'vitest'
import { createCache } from '../../src/index.ts'
import { httpCache, type HttpCacheOptions } from '../../src/adapters/express.ts'
import { httpCache as forFastify } from '../../src/adapters/fastify.ts'
import { withHttpCache } from '../../src/adapters/fetch.ts'
import { httpCache as forNode } from '../../src/adapters/http.ts'
import { httpCache as forHono } from '../../src/adapters/hono.ts'
import { httpCache as forKoa } from '../../src/adapters/koa.ts'
import { ask, exchange, type RawOptions } from './support/raw-client.ts'

const open: { close(): unknown }[] = []
afterEach(async () => {
  await Promise.all(open.splice(0).map((one) => one.close()))
})

function newCache(options: object = {}) {
  const cache = createCache({
    namespace: 'found',
    ttl: '60s',
    jitter: 0,
    earlyRefresh: false,
    ...options,
  })
  open.push(cache)
  return cache
}

const cached = (options: Partial<HttpCacheOptions> = {}) =>
  httpCache({ cache: newCache(), ...options })

async function listen(app: RequestListener | Server): Promise<number> {
  const server = typeof app === 'function' ? createServer(app) : app
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  open.push({
    close: () => {
      if ('closeAllConnections' in server) server.closeAllConnections()
      return new Promise((resolve) => server.close(resolve))
    },
  })
  return (server.address() as AddressInfo).port
}

function hono(app: { fetch(request: Request): Response | Promise<Response> }): Promise<number> {
  return listen(createAdaptorServer({ fetch: app.fetch }) as Server)
}

async function text(port: number, path: string, options: RawOptions = {}): Promise<string> {
  return (await ask(port, path, options)).body.toString()
}

function connections(server: Server): Promise<number> {
  return new Promise((resolve) => server.getConnections((_, count) => resolve(count)))
}

async function certificate(): Promise<{ key: string; cert: string }> {
  const words = 'req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj /CN=a -keyout -'
  const { stdout } = await promisify(execFile)('openssl', words.split(' '))
  const [key, cert] = stdout.split(/(?=-----BEGIN CERTIFICATE)/)
  return { key: key!, cert: cert! }
}

describe('what a layer further out says of an answer is obeyed', () => {
  it('T135 Hono: `private` of a layer before the cache keeps the answer from being stored', async () => {
    const app = new Hono()
    app.use(async (c, next) => {
      c.header('Cache-Control', 'private')
      await next()
    })
    app.use(forHono({ cache: newCache() }))
    let runs = 0
    app.get('/', (c) => c.text(String(++runs)))
    const port = await hono(app)
    expect(await text(port, '/')).toBe('1')
    expect(await text(port, '/')).toBe('2')
  })

  it('T136 Express: `Vary` of a layer before the cache chooses the answer', async () => {
    const app = express()
    app.use((req, res, next) => {
      res.vary('Accept-Language')
      res.locals['language'] = req.headers['accept-language']
      next()
    })
    app.use(cached())
    app.get('/', (_req, res) => void res.send(res.locals['language']))
    const port = await listen(app)
    for (const language of ['en', 'fr', 'en']) {
      expect(await text(port, '/', { headers: { 'Accept-Language': language } })).toBe(language)
    }
  })

  it('T136 Koa: `Vary` of a layer before the cache chooses the answer', async () => {
    const app = new Koa()
    app.use(async (ctx, next) => {
      ctx.vary('Accept-Language')
      ctx.state['language'] = ctx.get('Accept-Language')
      await next()
    })
    app.use(forKoa({ cache: newCache() }))
    app.use((ctx) => {
      ctx.body = ctx.state['language']
    })
    const port = await listen((req, res) => void app.callback()(req, res))
    for (const language of ['en', 'fr', 'en']) {
      expect(await text(port, '/', { headers: { 'Accept-Language': language } })).toBe(language)
    }
  })

  it('T136 Hono: `Vary` of a layer before the cache chooses the answer', async () => {
    const app = new Hono<{ Variables: { language: string } }>()
    app.use(async (c, next) => {
      c.header('Vary', 'Accept-Language')
      c.set('language', c.req.header('accept-language') ?? '')
      await next()
    })
    app.use(forHono({ cache: newCache() }))
    app.get('/', (c) => c.text(c.get('language')))
    const port = await hono(app)
    for (const language of ['en', 'fr', 'en']) {
      expect(await text(port, '/', { headers: { 'Accept-Language': language } })).toBe(language)
    }
  })
})

it('T141 an error in the middle of a body that its visitor is not shown is nobody’s page', async () => {
  const app = express()
  app.use(cached())
  let runs = 0
  app.get('/', (_req, res, next) => {
    if (++runs > 1) return void res.send('whole')
    res.writeHead(200)
    res.write('half')
    setImmediate(() => next(new Error('in the middle')))
  })
  app.set('env', 'test')
  const port = await listen(app)
  const first = await ask(port, '/', { headers: { 'If-None-Match': '"x"' } }).catch(() => undefined)
  expect(first?.body.toString() ?? '').not.toContain('Error')
  expect(await text(port, '/')).toBe('whole')
})

it('T136 a 304 to the question for one variant is never the answer of another', async () => {
  const app = express()
  app.disable('etag')
  app.use(cached({ ttl: '40ms', staleIfError: '60s', staleWhileRevalidate: 0 }))
  app.get('/', (req, res) => {
    res.vary('Accept-Language').set('Last-Modified', new Date(1e12).toUTCString())
    res.send(req.headers['accept-language'])
  })
  const port = await listen(app)
  const read = (language: string) => text(port, '/', { headers: { 'Accept-Language': language } })
  expect(await read('en')).toBe('en')
  await new Promise((resolve) => setTimeout(resolve, 60))
  expect(await read('fr')).toBe('fr')
  expect(await read('en')).toBe('en')
})

describe('what names the visitor', () => {
  it.each([
    ['a number', () => 7],
    ['a promise', () => Promise.resolve('anna')],
    ['an object', () => ({ id: 'anna' })],
    ['nothing but an empty text', () => ''],
    ['null', () => null],
  ] as [string, () => never][])('T135 is not %s', async (_name, user) => {
    const app = express()
    app.use(cached({ user }))
    app.get('/', (req, res) => void res.send(req.headers.cookie))
    const port = await listen(app)
    for (const one of ['a=1', 'a=2']) {
      expect(await text(port, '/', { headers: { Cookie: one } })).toBe(one)
    }
  })

  it('`skip` that gives anything true sends the request past the cache', async () => {
    const app = express()
    app.use(cached({ skip: (({ fields }: never) => fields['x-preview']) as never }))
    app.get('/', (req, res) => void res.send(req.headers['x-preview'] ?? 'public'))
    const port = await listen(app)
    expect(await text(port, '/', { headers: { 'X-Preview': 'draft' } })).toBe('draft')
    expect(await text(port, '/')).toBe('public')
  })
})

it('T147 Express 4: what is not ignored of a nested query stays', async () => {
  const app = (express4 as unknown as typeof express)()
  app.use(cached({ query: { ignore: ['utm_*'] } }))
  app.get('/', (req, res) => void res.json(req.query))
  const port = await listen(app)
  expect(await text(port, '/?filter[a]=1&utm_source=x')).toBe('{"filter":{"a":"1"}}')
})

it.each([
  ['?a=1&%61=2', '?%61=2&a=1'],
  ['?a[b]=1&a=2', '?a=2&a[b]=1'],
  ['?a.b=1&a=2', '?a=2&a.b=1'],
])('T147 %s is not %s, which parsers read differently', async (one, other) => {
  const app = express()
  app.use(cached())
  app.get('/', (req, res) => void res.send(req.originalUrl))
  const port = await listen(app)
  expect([await text(port, `/${one}`), await text(port, `/${other}`)]).toEqual([
    `/${one}`,
    `/${other}`,
  ])
})

it('what covers a failure is said to be stale', async () => {
  const app = express()
  app.use(cached({ ttl: '20ms', staleIfError: '60s', staleWhileRevalidate: 0 }))
  let runs = 0
  app.get('/', (_req, res) => void res.status(++runs === 1 ? 200 : 503).send(String(runs)))
  const port = await listen(app)
  await ask(port, '/')
  await new Promise((resolve) => setTimeout(resolve, 40))
  const covered = await ask(port, '/')
  expect(covered.body.toString()).toBe('1')
  expect(covered.field('cache-status')).toBe('breakwater;fwd=stale')
})

it.each(['/a/../b', "/q?x='1'", '//elsewhere.test/page', '/a%2fb|c'])(
  'a change of %s takes back what is kept of it',
  async (path) => {
    const app = express()
    app.use(cached())
    let runs = 0
    app.use(((req, res) => {
      if (req.method === 'GET') runs++
      res.send(String(runs))
    }) as RequestHandler)
    const port = await listen(app)
    expect([await text(port, path), await text(port, path)]).toEqual(['1', '1'])
    await ask(port, path, { method: 'POST' })
    await expect.poll(() => text(port, path)).toBe('2')
  },
)

it('T148 Hono: a target with another host than the field is no answer for that host', async () => {
  const app = new Hono()
  app.use(forHono({ cache: newCache() }))
  app.get('/', (c) => c.text(new URL(c.req.url).host))
  const port = await hono(app)
  const bytes = 'GET http://evil.test/ HTTP/1.1\r\nHost: shop.test\r\nConnection: close\r\n\r\n'
  await exchange(port, bytes)
  expect(await text(port, '/')).toBe('shop.test')
})

it('T136 the site that an answer names as its reader is given it, and no other', async () => {
  const app = express()
  app.use(cached())
  app.get('/', (req, res) => {
    res.set('Access-Control-Allow-Origin', req.headers.origin ?? '*').send('page')
  })
  const port = await listen(app)
  for (const Origin of ['http://a.test', 'http://b.test', 'http://a.test']) {
    const got = await ask(port, '/', { headers: { Origin } })
    expect(got.field('access-control-allow-origin')).toBe(Origin)
  }
})

it('what a layer further out sets as the head goes out by the answer’s doing is nobody else’s', async () => {
  const app = express()
  let sessions = 0
  // As sessions do it: a cookie, once the handler has put something into it.
  app.use((_req, res, next) => {
    const { writeHead } = res
    res.writeHead = function (this: typeof res, ...args: unknown[]) {
      if (res.locals['token'] !== undefined) res.setHeader('Set-Cookie', `s=${res.locals['token']}`)
      return Reflect.apply(writeHead, this, args)
    } as typeof writeHead
    next()
  })
  app.use(cached())
  app.get('/', (_req, res) => {
    res.locals['token'] = ++sessions
    res.send(`<input name=csrf value=${sessions}>`)
  })
  const port = await listen(app)
  expect(await text(port, '/')).toContain('value=1')
  expect(await text(port, '/')).toContain('value=2')
})

it('a refresh has the address of nobody whom the application trusts more', async () => {
  const app = express()
  app.use(cached({ ttl: '20ms', staleWhileRevalidate: '60s' }))
  const seen: unknown[] = []
  app.get('/', (req, res) => {
    seen.push(req.socket.remoteAddress)
    res.send('x')
  })
  const server = createServer(app)
  const port = await listen(server)
  server.on('connection', (socket) => {
    Object.defineProperty(socket, 'remoteAddress', { value: '203.0.113.7' })
  })
  await expect
    .poll(async () => {
      await ask(port, '/')
      return seen.length
    })
    .toBeGreaterThan(2)
  expect(new Set(seen)).toEqual(new Set(['203.0.113.7']))
})

it('T153 Hono: of many who wait one leads when the first has left, and nobody else', async () => {
  const app = new Hono()
  app.use(forHono({ cache: newCache() }))
  let runs = 0
  let left = 0
  app.get('/', async (c) => {
    const run = ++runs
    await new Promise<void>((resolve, reject) => {
      if (run > 1) setTimeout(resolve, 50)
      c.req.raw.signal.addEventListener('abort', () => {
        left++
        reject(c.req.raw.signal.reason as Error)
      })
    })
    return c.text('page')
  })
  const port = await hono(app)
  const socket = connect(port, '127.0.0.1')
  socket.write('GET / HTTP/1.1\r\nHost: shop.test\r\n\r\n')
  await expect.poll(() => runs).toBe(1)
  const others = Array.from({ length: 30 }, () => text(port, '/'))
  await new Promise((resolve) => setTimeout(resolve, 50))
  socket.destroy()
  expect(new Set(await Promise.all(others))).toEqual(new Set(['page']))
  expect([left, runs]).toEqual([1, 2])
})

it('T153 who has left before his turn to lead keeps nobody waiting', async () => {
  const app = express()
  app.use(cached({ cache: newCache({ limit: { concurrency: 1, queue: '20s' } }) }))
  let end = (): void => {}
  app.get('/first', (_req, res) => void (end = () => res.send('first')))
  app.get('/second', (_req, res) => void pipeline(Readable.from(['whole']), res, () => {}))
  const server = createServer(app)
  let arrived = 0
  server.on('request', () => void arrived++)
  const port = await listen(server)
  const first = text(port, '/first')
  await expect.poll(() => arrived).toBe(1)
  const socket = connect(port, '127.0.0.1')
  socket.write('GET /second HTTP/1.1\r\nHost: shop.test\r\n\r\n')
  await expect.poll(() => arrived).toBe(2)
  const second = text(port, '/second')
  await expect.poll(() => arrived).toBe(3)
  socket.destroy()
  await expect.poll(() => connections(server)).toBe(2)
  end()
  expect(await first).toBe('first')
  expect(await second).toBe('whole')
}, 10_000)

it('T153 Fetch: what is no answer, or was read before, keeps nobody waiting', async () => {
  const response = new Response('read before')
  await response.text()
  const handle = withHttpCache(() => response, { cache: newCache() })
  const ended = Promise.allSettled(
    Array.from({ length: 3 }, () => handle(new Request('http://shop.test/'))),
  )
  expect((await ended).map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected'])
}, 5_000)

describe('T135 a certificate names its visitor', () => {
  it('though nobody has signed it', async () => {
    const { key, cert } = await certificate()
    const app = express()
    app.use(cached())
    app.get('/', (req, res) => {
      const { fingerprint } = (req.socket as TLSSocket).getPeerCertificate()
      res.send(fingerprint ?? 'nobody')
    })
    const port = await listen(
      createTlsServer({ key, cert, requestCert: true, rejectUnauthorized: false }, app),
    )
    const read = (own: object) =>
      new Promise<string>((resolve, reject) => {
        const options = { port, host: '127.0.0.1', rejectUnauthorized: false, agent: false, ...own }
        get(options, (res) => void streamText(res).then(resolve, reject)).on('error', reject)
      })
    expect(await read({ key, cert })).toContain(':')
    expect(await read({})).toBe('nobody')
    expect(await read({})).toBe('nobody')
  })
})

it('T136 Fastify: the version that a request asks for is in its key', async () => {
  const app = Fastify({ forceCloseConnections: true })
  await app.register(forFastify, { cache: newCache() })
  app.get('/', { constraints: { version: '1.0.0' } }, () => 'one')
  app.get('/', { constraints: { version: '2.0.0' } }, () => 'two')
  await app.listen({ port: 0, host: '127.0.0.1' })
  open.push(app)
  const { port } = app.server.address() as AddressInfo
  const read = (version: string) => text(port, '/', { headers: { 'Accept-Version': version } })
  expect([await read('1.0.0'), await read('2.0.0'), await read('1.0.0')]).toEqual([
    'one',
    'two',
    'one',
  ])
})

it('over HTTP/2 visitors are answered, and one who sends a body past the cache', async () => {
  const handle = forNode({ cache: newCache() })
  let runs = 0
  const server = createHttp2Server((req, res) =>
    handle(req as never, res as never, () => {
      runs++
      req.pipe(res, { end: false })
      req.once('end', () => res.end('page'))
    }),
  )
  const port = await listen(server as never as Server)
  const client = connectHttp2(`http://127.0.0.1:${port}`)
  open.push(client)
  const read = (fields: object) =>
    streamText(client.request({ ':path': '/', ...fields }).setTimeout(2000) as never)
  const sent = client.request({ ':path': '/', ':method': 'GET' }, { endStream: false })
  sent.end('my ')
  expect(await streamText(sent as never)).toBe('my page')
  expect(await read({})).toBe('page')
  expect(await read({ 'if-none-match': '"x"' })).toBe('page')
  expect(runs).toBe(2)
}, 5_000)

it('Koa: over HTTP/2 one run is for all', async () => {
  const app = new Koa()
  app.use(forKoa({ cache: newCache() }))
  let runs = 0
  app.use((ctx) => {
    ctx.body = String(++runs)
  })
  const port = await listen(
    createHttp2Server((req, res) => void app.callback()(req as never, res as never)) as never,
  )
  const client = connectHttp2(`http://127.0.0.1:${port}`)
  open.push(client)
  const read = () => streamText(client.request({ ':path': '/' }).setTimeout(2000) as never)
  expect([await read(), await read()]).toEqual(['1', '1'])
}, 5_000)

it('a change that is made behind the head of its answer takes back what was read in between', async () => {
  const app = express()
  app.use(cached())
  let now = 'old'
  let end: (() => void) | undefined
  app.get('/', (_req, res) => void res.send(now))
  app.post('/', (_req, res) => {
    res.write('working')
    end = () => {
      now = 'new'
      res.end()
    }
  })
  const port = await listen(app)
  const posted = ask(port, '/', { method: 'POST' })
  await expect.poll(() => end).toBeDefined()
  expect(await text(port, '/')).toBe('old')
  end!()
  await posted
  await expect.poll(() => text(port, '/')).toBe('new')
})

it.each(['once more', 'under a path'])(
  'a cache that stands there twice answers: %s',
  async (where) => {
    const app = express()
    const cache = newCache()
    app.use(httpCache({ cache }))
    app.use(where === 'once more' ? '/' : '/x', httpCache({ cache, ttl: '5s' }))
    let runs = 0
    app.get('/x', (_req, res) => void setTimeout(() => res.send(String(++runs)), 20))
    const port = await listen(app)
    const all = await Promise.all(Array.from({ length: 5 }, () => text(port, '/x')))
    expect(new Set(all)).toEqual(new Set(['1']))
  },
)

it('a visitor’s run of the application is in his own asynchronous context', async () => {
  const visitor = new AsyncLocalStorage<string>()
  const app = express()
  app.use((req, _res, next) => visitor.run(req.url, next))
  app.use(cached({ cache: newCache({ limit: { concurrency: 1, queue: '20s' } }) }))
  const seen: string[] = []
  app.get('/:id', (req, res) => {
    seen.push(`${req.url} ${visitor.getStore()}`)
    setTimeout(() => res.send('x'), 5)
  })
  const port = await listen(app)
  await Promise.all(['/1', '/2', '/3', '/4'].map((path) => ask(port, path)))
  expect(seen.toSorted()).toEqual(['/1 /1', '/2 /2', '/3 /3', '/4 /4'])
})

it('a visitor’s own asynchronous context is that of no refresh', async () => {
  const visitor = new AsyncLocalStorage<string>()
  const app = express()
  app.use((req, _res, next) => {
    const name = req.headers['user-agent']
    if (name === undefined) next()
    else visitor.run(name, next)
  })
  app.use(cached({ ttl: '20ms', staleWhileRevalidate: '60s' }))
  const seen: unknown[] = []
  app.get('/', (_req, res) => {
    seen.push(visitor.getStore())
    res.send('x')
  })
  const port = await listen(app)
  await expect
    .poll(async () => {
      await ask(port, '/', { headers: { 'User-Agent': 'anna' } })
      return seen.length
    })
    .toBeGreaterThan(2)
  expect(seen.slice(1)).not.toContain('anna')
})

it('an exception of a bare application does not leave its visitor without an answer', async () => {
  const handle = forNode({ cache: newCache() })
  const thrown = new Promise((resolve) => {
    const others = process.listeners('uncaughtException')
    process.removeAllListeners('uncaughtException')
    process.once('uncaughtException', (error) => {
      for (const one of others) process.on('uncaughtException', one)
      resolve(error.message)
    })
  })
  const port = await listen((req, res) =>
    handle(req, res, () => {
      throw new Error('thrown')
    }),
  )
  const got = ask(port, '/').catch(() => undefined)
  expect(await thrown).toBe('thrown')
  void got
})
