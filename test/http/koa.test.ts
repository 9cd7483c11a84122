// What is Koa's own: mounts, layers on both sides, what is thrown, bodies of all kinds.

import { PassThrough, Readable } from 'node:stream'
import { gunzipSync } from 'node:zlib'
import Koa, { type Context, type Next } from 'koa'
import compress from 'koa-compress'
import { afterEach, describe, expect, it } from 'vitest'
import { httpCache } from '../../src/adapters/koa.ts'
import type { HttpCacheOptions } from '../../src/adapters/http.ts'
import { createCache } from '../../src/index.ts'
import { listening, type Started } from './support/apps.ts'
import { serverOf } from './support/koa.ts'
import { ask, hash } from './support/raw-client.ts'

const open: { close(): Promise<void> }[] = []
afterEach(async () => {
  await Promise.all(open.splice(0).map((one) => one.close()))
})

type Layer = (ctx: Context, next: Next) => unknown

/** A cache between what is further out and what is further in. */
async function made(
  inside: Layer,
  { outside = [], options = {} }: { outside?: Layer[]; options?: Partial<HttpCacheOptions> } = {},
): Promise<Started & { readonly errors: unknown[] }> {
  const cache = createCache({ namespace: 'koa', ttl: '60s', jitter: 0, earlyRefresh: false })
  const app = new Koa()
  const errors: unknown[] = []
  app.on('error', (error) => errors.push(error))
  for (const layer of outside) app.use(layer as Koa.Middleware)
  const cached = httpCache({ cache, ...options })
  app.use(cached).use(inside as Koa.Middleware)
  const started = await listening(serverOf(app), cached)
  open.push(started, cache)
  return { ...started, errors }
}

/** As `koa-mount` does it: what is further in sees the rest of the path. */
const mounted =
  (prefix: string, layer: Layer): Layer =>
  async (ctx, next) => {
    if (!ctx.path.startsWith(prefix)) return next()
    const before = ctx.path
    ctx.path = before.slice(prefix.length)
    try {
      await layer(ctx, next)
    } finally {
      ctx.path = before
    }
  }

describe('httpCache for Koa', () => {
  it('T148 two mounts have an entry each', async () => {
    const cache = createCache({ namespace: 'koa', ttl: '60s' })
    const cached = httpCache({ cache, query: { ignore: ['utm_*'] } })
    const app = new Koa()
    let runs = 0
    for (const name of ['a', 'b']) {
      app.use(
        mounted(`/${name}`, (ctx) =>
          cached(ctx, async () => {
            ctx.body = `${name} ${ctx.url} ${++runs}`
          }),
        ) as Koa.Middleware,
      )
    }
    const { port, close } = await listening(serverOf(app), cached)
    open.push({ close }, cache)
    const read = async (path: string): Promise<string> => (await ask(port, path)).body.toString()
    expect(await read('/a/file?x=1&utm_source=y')).toBe('a /file?x=1 1')
    expect(await read('/b/file?x=1')).toBe('b /file?x=1 2')
    expect(await read('/a/file?x=1')).toBe('a /file?x=1 1')
    expect(await read('/b/file?x=1&utm_source=z')).toBe('b /file?x=1 2')
  })

  it('what layers further out do is theirs, and done at each hit', async () => {
    let visits = 0
    let runs = 0
    const seen: unknown[] = []
    const { port } = await made(
      (ctx) => {
        ctx.set('X-Inside', String(++runs))
        ctx.body = { runs }
      },
      {
        outside: [
          async (ctx, next) => {
            ctx.set('X-Before', String(++visits))
            await next()
            ctx.set('X-After', String(visits))
            ctx.cookies.set('visit', String(visits), { httpOnly: false })
            seen.push([ctx.status, ctx.method, ctx.originalUrl, Buffer.isBuffer(ctx.body)])
          },
        ],
      },
    )
    for (const visit of ['1', '2', '3']) {
      const got = await ask(port, '/')
      expect(got.body.toString()).toBe('{"runs":1}')
      expect(got.field('content-type')).toBe('application/json; charset=utf-8')
      expect(['x-before', 'x-after', 'x-inside'].map(got.field)).toEqual([visit, visit, '1'])
      expect(got.field('set-cookie')).toBe(`visit=${visit}; path=/`)
    }
    await ask(port, '/', { method: 'HEAD' })
    expect(seen).toEqual([
      ...[1, 2, 3].map(() => [200, 'GET', '/', true]),
      [200, 'HEAD', '/', true],
    ])
  })

  it('T138 compression further out codes what is kept plain; further in, what is kept is coded', async () => {
    const text = 'word '.repeat(1000)
    for (const side of ['outside', 'inside']) {
      const compressing = compress({ br: false, zstd: false }) as Layer
      const route: Layer = (ctx) => {
        ctx.body = Readable.from([text])
        ctx.type = 'text/plain'
      }
      const inside: Layer =
        side === 'outside'
          ? route
          : (ctx) => compressing(ctx, async () => void route(ctx, async () => {}))
      const { port } = await made(inside, side === 'outside' ? { outside: [compressing] } : {})
      const gzip = { headers: { 'Accept-Encoding': 'gzip' } }
      for (let n = 0; n < 2; n++) {
        const coded = await ask(port, '/', gzip)
        expect([side, n, coded.field('content-encoding')]).toEqual([side, n, 'gzip'])
        expect(coded.isWhole).toBe(true)
        expect(coded.field('vary')?.toLowerCase()).toBe('accept-encoding')
        const plain = await ask(port, '/')
        expect(plain.field('content-encoding')).toBeUndefined()
        expect(hash(plain.body)).toBe(hash(text))
        expect(hash(gunzipSync(coded.body))).toBe(hash(text))
      }
    }
  })

  it('what is thrown goes outwards, is nobody else’s, and is covered by an older answer', async () => {
    let runs = 0
    let isBroken = true
    const { port, errors } = await made(
      (ctx) => {
        runs++
        ctx.set('X-Half', 'done')
        if (ctx.path === '/gone') ctx.throw(404, 'no such thing')
        if (isBroken) throw new Error('broken')
        ctx.body = 'page'
      },
      { options: { ttl: '50ms', staleIfError: '60s' } },
    )
    expect(await ask(port, '/')).toMatchObject({ status: 500 })
    const gone = await ask(port, '/gone')
    expect(gone).toMatchObject({ status: 404 })
    expect(gone.body.toString()).toBe('no such thing')
    isBroken = false
    expect((await ask(port, '/')).body.toString()).toBe('page')
    isBroken = true
    await new Promise((resolve) => setTimeout(resolve, 80))
    const before = errors.length
    const covered = await ask(port, '/')
    expect(covered).toMatchObject({ status: 200 })
    expect(covered.body.toString()).toBe('page')
    expect(errors).toHaveLength(before)
    expect(runs).toBe(4)
  })

  it.each([
    ['a text', (): unknown => 'täxt', 'täxt'],
    ['bytes', (): unknown => Buffer.from([0, 255, 128]), Buffer.from([0, 255, 128])],
    ['an object', (): unknown => ({ a: 1 }), '{"a":1}'],
    ['a stream', (): unknown => Readable.from(['a', 'b']), 'ab'],
    ['a stream of the web', (): unknown => new Response('web').body, 'web'],
    ['a Blob', (): unknown => new Blob(['blob']), 'blob'],
    ['a Response', (): unknown => new Response('answer'), 'answer'],
    ['nothing', (): unknown => null, ''],
  ])('T151 %s is kept as Koa writes it', async (_, body, expected) => {
    let runs = 0
    const { port } = await made((ctx) => {
      runs++
      ctx.body = body()
      ctx.status = 200
    })
    const first = await ask(port, '/')
    const second = await ask(port, '/')
    expect(hash(first.body)).toBe(hash(expected))
    expect(hash(second.body)).toBe(hash(expected))
    expect(second.isWhole).toBe(true)
    expect(second.field('content-length')).toBe(String(Buffer.byteLength(expected as string)))
    expect(second.field('content-type')).toBe(first.field('content-type'))
    expect(runs).toBe(1)
  })

  it('a status without a body, and one that nobody has set, are what Koa makes of them', async () => {
    const { port } = await made(
      (ctx) => {
        ctx.set('Cache-Control', 'max-age=60')
        if (ctx.path === '/empty') ctx.status = 204
      },
      { options: { statuses: [200, 204, 404] } },
    )
    for (let n = 0; n < 2; n++) {
      const empty = await ask(port, '/empty')
      expect(empty).toMatchObject({ status: 204, isWhole: true })
      expect(empty.field('content-length')).toBeUndefined()
      const missing = await ask(port, '/missing')
      expect(missing).toMatchObject({ status: 404, isWhole: true })
      expect(missing.body.toString()).toBe('Not Found')
      expect(missing.field('cache-status')).toMatch(n === 0 ? /fwd/ : /hit/)
    }
  })

  it('what is written to Node’s response itself is kept as well', async () => {
    let runs = 0
    const { port } = await made((ctx) => {
      ctx.respond = false
      setTimeout(() => {
        ctx.res.writeHead(200, { 'Content-Type': 'text/plain', 'X-Run': String(++runs) })
        ctx.res.write('ra')
        ctx.res.end('w')
      }, 10)
    })
    for (const method of ['HEAD', 'GET', 'GET']) {
      const got = await ask(port, '/', { method })
      expect(got).toMatchObject({ status: 200, isWhole: true })
      expect(got.field('x-run')).toBe('1')
      expect(got.body.toString()).toBe(method === 'HEAD' ? '' : 'raw')
    }
  })

  it('T135 a cookie set as the head is written keeps the answer from being stored', async () => {
    let runs = 0
    const { port } = await made((ctx) => {
      const { res } = ctx
      const { writeHead } = res
      const id = ++runs
      // As layers of other frameworks do, which are mounted through an adapter.
      res.writeHead = function (this: typeof res, ...args: Parameters<typeof writeHead>) {
        res.setHeader('Set-Cookie', `id=${id}`)
        return Reflect.apply(writeHead, res, args)
      } as typeof writeHead
      ctx.body = `for ${id}`
    })
    for (const id of [1, 2]) {
      const got = await ask(port, '/')
      expect([got.field('set-cookie'), got.body.toString()]).toEqual([`id=${id}`, `for ${id}`])
    }
  })

  it('T141 a stream that breaks breaks for its visitor, and nobody else is given it', async () => {
    let runs = 0
    const { port } = await made((ctx) => {
      const stream = new PassThrough()
      ctx.body = stream
      stream.write('half')
      if (++runs === 1) setTimeout(() => stream.destroy(new Error('broke')), 30)
      else setTimeout(() => stream.end(' and half'), 30)
    })
    const got = await Promise.all([0, 1, 2].map(() => ask(port, '/')))
    const whole = got.filter(({ isWhole, status }) => isWhole && status === 200)
    expect(whole.map(({ body }) => body.toString())).toEqual(['half and half', 'half and half'])
    expect((await ask(port, '/')).body.toString()).toBe('half and half')
    expect(runs).toBe(2)
  })

  it('thirty visitors of a slow stream are given one run of it, first bytes at once', async () => {
    let runs = 0
    let finish = (): void => {}
    const { port } = await made((ctx) => {
      runs++
      const stream = new PassThrough()
      stream.write('begun')
      finish = () => stream.end(' and done')
      ctx.body = stream
    })
    const first = ask(port, '/', { leaveWhen: 'begun' })
    expect((await first).body.toString('latin1')).toContain('begun')
    const all = Promise.all(Array.from({ length: 30 }, () => ask(port, '/')))
    await expect.poll(() => runs, { interval: 5 }).toBe(2)
    finish()
    for (const one of await all) expect(one.body.toString()).toBe('begun and done')
    expect(runs).toBe(2)
  })

  it('a visitor’s several cookies are kept for him, line by line', async () => {
    let runs = 0
    const { port } = await made(
      (ctx) => {
        runs++
        ctx.set('Set-Cookie', ['a=1', 'b=2'])
        ctx.body = 'his'
      },
      {
        options: {
          user: ({ fields }) => fields['authorization'] as string | undefined,
          storeSetCookie: true,
        },
      },
    )
    for (let n = 0; n < 2; n++) {
      const { lines } = await ask(port, '/', { headers: { Authorization: 'x' } })
      const cookies = lines.filter(([name]) => name.toLowerCase() === 'set-cookie')
      expect(cookies.map(([, value]) => value)).toEqual(['a=1', 'b=2'])
    }
    expect(runs).toBe(1)
  })
})
