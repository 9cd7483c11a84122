// The traps of response caches, over every adapter: asked over raw sockets, compared by hash.

import { afterEach, describe, expect, it } from 'vitest'
import { createCache, type Cache } from '../../src/index.ts'
import type { HttpCacheOptions } from '../../src/adapters/http.ts'
import { adapters, type Route, type Started } from './support/apps.ts'
import { proxied } from './support/proxied.ts'
import { ask, hash, type Raw } from './support/raw-client.ts'

const eventually = (check: () => Promise<boolean>): Promise<void> =>
  expect.poll(check, { interval: 10 }).toBe(true)

const all = { ...adapters, 'breakwater proxy': proxied }
const open: { close(): Promise<void> }[] = []
afterEach(async () => {
  await Promise.all(open.splice(0).map((one) => one.close()))
})

/** Their server sends the usual text of a status, whatever the answer has. */
const withoutTexts = new Set(['Hono', 'Fetch'])

/** Of `Vary`, without what a compression further out adds. */
const chosenBy = (got: Raw): string[] =>
  (got.field('vary') ?? '')
    .toLowerCase()
    .split(', ')
    .filter((field) => field !== 'accept-encoding')
    .toSorted()

describe.each(Object.entries(all))('%s', (name, start) => {
  interface Made {
    readonly app: Started
    readonly cache: Cache
    readonly seen: { method: string; url: string; headers: Record<string, unknown> }[]
  }
  const make = async (route: Route, options: Partial<HttpCacheOptions> = {}): Promise<Made> => {
    const cache = createCache({
      namespace: 'matrix',
      ttl: '60s',
      jitter: 0,
      earlyRefresh: false,
    })
    const seen: Made['seen'] = []
    const app = await start(
      (one) => {
        seen.push({ ...one, headers: { ...one.headers } })
        return route(one)
      },
      { cache, ...options },
    )
    open.push(app, cache)
    return { app, cache, seen }
  }

  it('answers from what is kept, and says so', async () => {
    const { app, seen } = await make(() => ({
      headers: { 'Content-Type': 'text/plain', 'X-Own': 'a' },
      body: 'page',
    }))
    const first = await ask(app.port, '/a')
    const second = await ask(app.port, '/a')
    expect(first.field('cache-status')).toMatch(/^breakwater;fwd=miss/)
    expect(second.field('cache-status')).toMatch(/^breakwater;hit;ttl=(59|60)$/)
    expect(second).toMatchObject({ status: 200, isWhole: true })
    expect(second.body.toString()).toBe('page')
    expect(second.field('content-length')).toBe('4')
    for (const name of ['content-type', 'x-own']) {
      expect([name, second.field(name)]).toEqual([name, first.field(name)])
    }
    // Node writes the first itself, from a clock that it looks at once a second.
    const [one, other] = [first, second].map((it) => Date.parse(it.field('date')!))
    expect(Math.abs(one! - other!)).toBeLessThanOrEqual(1000)
    expect(second.field('age')).toBe('0')
    expect(seen).toHaveLength(1)
  })

  describe('T135 an answer for somebody', () => {
    it.each(['Authorization', 'Cookie', 'X-Api-Key', 'CF-Access-JWT-Assertion'])(
      'is neither stored nor given to others: %s',
      async (name) => {
        const { app, seen } = await make(({ headers }) => ({
          body: `for ${String(headers[name.toLowerCase()] ?? 'all')}`,
        }))
        const personal = await ask(app.port, '/me', { headers: { [name]: 'a=1' } })
        expect(personal.body.toString()).toBe('for a=1')
        expect((await ask(app.port, '/me')).body.toString()).toBe('for all')
        expect((await ask(app.port, '/me', { headers: { [name]: 'b=2' } })).body.toString()).toBe(
          'for b=2',
        )
        expect((await ask(app.port, '/me')).body.toString()).toBe('for all')
        expect(seen).toHaveLength(3)
      },
    )

    it('is kept for him where the route names him', async () => {
      const { app, seen } = await make(
        ({ headers }) => ({ body: `for ${String(headers['authorization'])}` }),
        {
          user: ({ fields }) => fields['authorization'] as string | undefined,
        },
      )
      for (let n = 0; n < 2; n++) {
        for (const who of ['a', 'b']) {
          const got = await ask(app.port, '/me', { headers: { Authorization: who } })
          expect(got.body.toString()).toBe(`for ${who}`)
        }
      }
      expect(seen).toHaveLength(2)
    })

    it('with Set-Cookie is seen by its own visitor alone', async () => {
      let n = 0
      const { app } = await make(() => ({ headers: { 'Set-Cookie': `id=${++n}` }, body: `${n}` }))
      const got = await Promise.all(Array.from({ length: 8 }, () => ask(app.port, '/')))
      expect(new Set(got.map((one) => one.field('set-cookie'))).size).toBe(8)
      for (const one of got) expect(one.field('set-cookie')).toBe(`id=${one.body.toString()}`)
    })
  })

  describe('T136 Vary', () => {
    it('is part of the key, and every variant is loaded once', async () => {
      const { app, seen } = await make(({ headers }) => ({
        headers: { Vary: 'Accept-Language' },
        body: `in ${String(headers['accept-language'] ?? 'any')}`,
      }))
      for (let round = 0; round < 3; round++) {
        for (const language of ['de', 'en', 'fr']) {
          const got = await ask(app.port, '/', { headers: { 'Accept-Language': language } })
          expect(got.body.toString()).toBe(`in ${language}`)
          expect(chosenBy(got)).toEqual(['accept-language'])
        }
        expect((await ask(app.port, '/')).body.toString()).toBe('in any')
      }
      expect(seen).toHaveLength(4)
    })

    it('of everything is never stored', async () => {
      let n = 0
      const { app } = await make(() => ({
        headers: { Vary: '*', 'Cache-Control': 'max-age=60' },
        body: `${++n}`,
      }))
      await ask(app.port, '/')
      expect((await ask(app.port, '/')).body.toString()).toBe('2')
    })

    it('that the route configures is sent, once, whatever the case', async () => {
      const { app, seen } = await make(() => ({ headers: { Vary: 'accept' }, body: 'x' }), {
        vary: ['Accept', 'X-Shop'],
      })
      for (let n = 0; n < 2; n++) {
        const got = await ask(app.port, '/', { headers: { 'X-Shop': 'a', Accept: '*/*' } })
        expect(chosenBy(got)).toEqual(['accept', 'x-shop'])
      }
      await ask(app.port, '/', { headers: { 'X-Shop': 'b', Accept: '*/*' } })
      expect(seen).toHaveLength(2)
    })
  })

  it('T138 a body in a coding goes to those who accept it', async () => {
    const { app, seen } = await make(({ headers }) =>
      String(headers['accept-encoding']).includes('gzip')
        ? { headers: { 'Content-Encoding': 'gzip' }, body: Buffer.from([31, 139, 8, 0]) }
        : { body: 'plain' },
    )
    const coded = await ask(app.port, '/', { headers: { 'Accept-Encoding': 'gzip' } })
    expect(coded.field('content-encoding')).toBe('gzip')
    expect(coded.field('vary')?.toLowerCase() ?? 'accept-encoding').toBe('accept-encoding')
    const plain = await ask(app.port, '/')
    expect(plain.field('content-encoding')).toBeUndefined()
    expect(plain.body.toString()).toBe('plain')
    const again = await ask(app.port, '/', { headers: { 'Accept-Encoding': 'gzip' } })
    expect(hash(again.body)).toBe(hash(coded.body))
    expect(again.field('content-length')).toBe('4')
    expect(again.field('vary')?.toLowerCase()).toBe('accept-encoding')
    expect(seen).toHaveLength(2)
  })

  describe('T139 a condition', () => {
    const tagged: Route = ({ headers }) =>
      headers['if-none-match'] === '"1"'
        ? { status: 304, headers: { ETag: '"1"' } }
        : { headers: { ETag: '"1"', 'Content-Type': 'text/html' }, body: 'whole page' }

    it('is answered from the whole page, which is what is kept', async () => {
      const { app, seen } = await make(tagged)
      const first = await ask(app.port, '/', { headers: { 'If-None-Match': '"1"' } })
      expect(first).toMatchObject({ status: 304 })
      expect(first.body).toHaveLength(0)
      const whole = await ask(app.port, '/')
      expect(whole).toMatchObject({ status: 200, isWhole: true })
      expect(whole.body.toString()).toBe('whole page')
      expect(whole.field('content-type')).toMatch(/^text\/html\b/)
      expect(await ask(app.port, '/', { headers: { 'If-None-Match': '"0"' } })).toMatchObject({
        status: 200,
      })
      expect(
        await ask(app.port, '/', { headers: { 'If-None-Match': 'W/"1", "3"' } }),
      ).toMatchObject({ status: 304 })
      expect(seen).toHaveLength(1)
    })

    it('of our own renews what is stale, body and all', async () => {
      const { app, seen } = await make(tagged, { ttl: '50ms', staleWhileRevalidate: '60s' })
      await ask(app.port, '/')
      await eventually(async () => {
        const got = await ask(app.port, '/')
        expect(got.body.toString()).toBe('whole page')
        return seen.length > 1
      })
      expect(seen[1]!.headers['if-none-match']).toBe('"1"')
      expect((await ask(app.port, '/')).body.toString()).toBe('whole page')
    })
  })

  it('HEAD is answered by what GET has, and the other way round', async () => {
    const { app, seen } = await make(() => ({ headers: { 'X-Own': 'a' }, body: 'body' }))
    const head = await ask(app.port, '/', { method: 'HEAD' })
    expect(head).toMatchObject({ status: 200, isWhole: true })
    expect(head.field('content-length')).toBe('4')
    expect((await ask(app.port, '/')).body.toString()).toBe('body')
    expect((await ask(app.port, '/', { method: 'HEAD' })).field('cache-status')).toMatch(/hit/)
    expect(seen.map(({ method }) => method)).toEqual(['GET'])
  })

  describe('T141 a body that is not whole', () => {
    it.each(['with a length', 'in chunks'])(
      'is not stored, nor given to those who waited: %s',
      async (how) => {
        let runs = 0
        const { app } = await make(() => {
          const run = ++runs
          return {
            headers: how === 'with a length' ? { 'Content-Length': '8' } : {},
            body: (async function* () {
              yield 'half'
              await new Promise((resolve) => setTimeout(resolve, 100))
              if (run === 1) throw new Error('broke off')
              yield 'more'
            })(),
          }
        })
        const got = await Promise.all([0, 1, 2].map(() => ask(app.port, '/')))
        const whole = got.filter(({ isWhole }) => isWhole)
        expect(whole.map(({ body }) => body.toString())).toEqual(['halfmore', 'halfmore'])
        expect((await ask(app.port, '/')).body.toString()).toBe('halfmore')
        expect(runs).toBe(2)
      },
    )

    it('since its visitor left is loaded again for the others', async () => {
      const { app } = await make(() => ({
        body: (async function* () {
          yield 'a'.repeat(1000)
          await new Promise((resolve) => setTimeout(resolve, 150))
          yield 'b'.repeat(1000)
        })(),
      }))
      const leaving = ask(app.port, '/', { leaveAfter: 1 })
      const others = await Promise.all([0, 1, 2].map(() => ask(app.port, '/')))
      await leaving
      for (const one of others)
        expect(hash(one.body)).toBe(hash('a'.repeat(1000) + 'b'.repeat(1000)))
    })
  })

  it('T142 a part is never stored, and is cut from the whole', async () => {
    const { app, seen } = await make(({ headers }) =>
      headers['range'] === undefined
        ? { headers: { ETag: '"1"' }, body: '0123456789' }
        : {
            status: 206,
            headers: { 'Content-Range': 'bytes 0-1/10', 'Cache-Control': 'max-age=60' },
            body: '01',
          },
    )
    expect(await ask(app.port, '/', { headers: { Range: 'bytes=0-1' } })).toMatchObject({
      status: 206,
    })
    expect((await ask(app.port, '/')).body.toString()).toBe('0123456789')
    const part = await ask(app.port, '/', { headers: { Range: 'bytes=2-4' } })
    expect(part).toMatchObject({ status: 206, isWhole: true })
    expect(part.body.toString()).toBe('234')
    expect(part.field('content-range')).toBe('bytes 2-4/10')
    expect(await ask(app.port, '/', { headers: { Range: 'bytes=20-' } })).toMatchObject({
      status: 416,
    })
    const changed = await ask(app.port, '/', { headers: { Range: 'bytes=2-4', 'If-Range': '"2"' } })
    expect(changed).toMatchObject({ status: 200 })
    expect(seen).toHaveLength(2)
  })

  it.each([
    [302, {}, false],
    [302, { 'Cache-Control': 'max-age=60' }, true],
    [404, {}, false],
    [404, { 'Cache-Control': 's-maxage=60' }, true],
    [400, { 'Cache-Control': 'max-age=60' }, false],
    [431, { 'Cache-Control': 'max-age=60' }, false],
    [500, { 'Cache-Control': 'max-age=60' }, false],
    [501, { 'Cache-Control': 'max-age=60' }, false],
    [503, { 'Cache-Control': 'max-age=60' }, false],
    [200, { 'Cache-Control': 'no-store' }, false],
    [200, { 'Cache-Control': 'private, max-age=60' }, false],
    [200, { 'Cache-Control': 'max-age=0' }, false],
    [200, { 'Cache-Control': 'no-store', 'CDN-Cache-Control': 'max-age=60' }, true],
  ] as const)('T142 T144 T145 %s with %o is stored: %s', async (status, headers, isStored) => {
    let n = 0
    const { app } = await make(() => ({
      status,
      headers: { ...headers, ...(status === 302 && { Location: '/x' }) },
      body: `${++n}`,
    }))
    const first = await ask(app.port, '/')
    const second = await ask(app.port, '/')
    expect([first.status, second.status]).toEqual([status, status])
    expect(second.body.toString()).toBe(isStored ? '1' : '2')
    if (status === 302) expect(second.field('location')).toBe('/x')
  })

  it('T144 a status keeps its text, and an older answer covers an outage', async () => {
    let isDown = false
    const { app } = await make(
      () => (isDown ? { status: 503, body: 'down' } : { statusText: 'Fine', body: 'page' }),
      { ttl: '50ms', staleIfError: '60s' },
    )
    await ask(app.port, '/')
    const statusText = withoutTexts.has(name) ? 'OK' : 'Fine'
    expect(await ask(app.port, '/')).toMatchObject({ status: 200, statusText })
    isDown = true
    await new Promise((resolve) => setTimeout(resolve, 80))
    const covered = await ask(app.port, '/')
    expect(covered).toMatchObject({ status: 200 })
    expect(covered.body.toString()).toBe('page')
    expect(await ask(app.port, '/other')).toMatchObject({ status: 503 })
  })

  it('T145 what a request can do to its own answer alone is not stored', async () => {
    let n = 0
    const { app } = await make(({ method }) => ({ body: `${method} ${++n}` }))
    expect((await ask(app.port, '/')).body.toString()).toBe('GET 1')
    const odd = { 'X-HTTP-Method-Override': 'DELETE' }
    expect((await ask(app.port, '/', { headers: odd })).body.toString()).toBe('GET 2')
    expect(
      (await ask(app.port, '/', { headers: { 'X-Original-URL': '/admin' } })).body.toString(),
    ).toBe('GET 3')
    expect(
      (await ask(app.port, '/', { headers: { 'X-Forwarded-Host': 'evil.test' } })).body.toString(),
    ).toBe('GET 4')
    expect((await ask(app.port, '/', { host: 'evil.test' })).body.toString()).toBe('GET 5')
    expect((await ask(app.port, '/', { body: 'fat' })).body.toString()).toBe('GET 6')
    expect((await ask(app.port, '/')).body.toString()).toBe('GET 1')
  })

  it('T147 the order of the query makes no difference, and that of equal names does', async () => {
    const { app, seen } = await make(({ url }) => ({ body: url }), {
      query: { ignore: ['utm_*', 'gclid'] },
    })
    for (const path of [
      '/?a=1&b=2',
      '/?b=2&a=1',
      '/?b=2&utm_source=x&a=1',
      '/?gclid=1&a=1&b=2&utm_=',
    ]) {
      expect((await ask(app.port, path)).body.toString()).toBe('/?a=1&b=2')
    }
    expect(seen).toHaveLength(1)
    expect((await ask(app.port, '/?x=1&x=2')).body.toString()).toBe('/?x=1&x=2')
    expect((await ask(app.port, '/?x=2&x=1')).body.toString()).toBe('/?x=2&x=1')
    expect((await ask(app.port, '/?A=1&b=2')).body.toString()).toBe('/?A=1&b=2')
    expect((await ask(app.port, '/?utm_source=x')).body.toString()).toBe('/')
  })

  it('T150 a refresh in the background has nobody’s credentials, and is for all', async () => {
    let n = 0
    const { app, seen } = await make(
      ({ headers }) => ({ body: `${++n} for ${String(headers['cookie'] ?? 'all')}` }),
      { ttl: '50ms', staleWhileRevalidate: '60s', ignoreCookies: ['_ga'] },
    )
    expect((await ask(app.port, '/', { headers: { Cookie: '_ga=1' } })).body.toString()).toBe(
      '1 for all',
    )
    await eventually(async () => {
      const got = await ask(app.port, '/', { headers: { Cookie: '_ga=1' } })
      expect(got.body.toString()).toMatch(/^\d for all$/)
      return seen.length > 1
    })
    expect(seen.every(({ headers }) => headers['cookie'] === undefined)).toBe(true)
  })

  describe('T151 a body', () => {
    it('of any bytes is kept as it is', async () => {
      const bytes = Buffer.from(Array.from({ length: 70_000 }, (_, n) => (n * 31) % 256))
      const { app } = await make(() => ({ body: bytes }))
      for (let n = 0; n < 2; n++) expect(hash((await ask(app.port, '/')).body)).toBe(hash(bytes))
    })

    it('that is too long is streamed and not kept, and nobody waits for its end', async () => {
      let n = 0
      const { app } = await make(
        () => {
          n++
          return {
            body: (async function* () {
              for (let part = 0; part < 40; part++) yield 'x'.repeat(1000)
            })(),
          }
        },
        { maxBodySize: '10KiB' },
      )
      const got = await Promise.all([0, 1, 2].map(() => ask(app.port, '/')))
      for (const one of got) expect(hash(one.body)).toBe(hash('x'.repeat(40_000)))
      expect(n).toBe(3)
    })

    it('of events is passed on as it comes', async () => {
      const { app } = await make(() => ({
        headers: { 'Content-Type': 'text/event-stream' },
        body: (async function* () {
          yield 'data: 1\n\n'
          await new Promise((resolve) => setTimeout(resolve, 30_000).unref())
        })(),
      }))
      const got = await Promise.all([0, 1].map(() => ask(app.port, '/', { leaveWhen: 'data: 1' })))
      for (const one of got) expect(one.body.toString('latin1')).toContain('data: 1')
    })
  })

  describe('T153 visitors who come together', () => {
    it('are answered by one run', async () => {
      const { app, seen } = await make(async () => {
        await new Promise((resolve) => setTimeout(resolve, 50))
        return { headers: { 'X-Own': 'a' }, body: 'page' }
      })
      const got = await Promise.all(Array.from({ length: 20 }, () => ask(app.port, '/')))
      for (const one of got) {
        expect(one).toMatchObject({ status: 200 })
        expect(one.body.toString()).toBe('page')
        expect(one.field('x-own')).toBe('a')
      }
      expect(seen).toHaveLength(1)
      const shared = got.filter((one) => /collapsed|hit/.test(one.field('cache-status') ?? ''))
      expect(shared).toHaveLength(19)
    })

    it('each get their own where it is not to be shared, side by side', async () => {
      let running = 0
      let most = 0
      const { app, seen } = await make(async () => {
        most = Math.max(most, ++running)
        await new Promise((resolve) => setTimeout(resolve, 100))
        running--
        return { headers: { 'Cache-Control': 'private' }, body: `${seen.length}` }
      })
      await Promise.all(Array.from({ length: 20 }, () => ask(app.port, '/')))
      expect(seen).toHaveLength(20)
      expect(most).toBeGreaterThan(10)
    })
  })

  it('a change makes old what is kept of its URL, and of those of its host that it names', async () => {
    let n = 0
    const { app } = await make(({ method, url }) => ({
      status: method === 'POST' && url === '/refused' ? 403 : method === 'POST' ? 201 : 200,
      headers:
        method === 'POST' ? { Location: '/b', 'Content-Location': 'http://other.test/c' } : {},
      body: `${++n}`,
    }))
    const read = async (path: string): Promise<number> =>
      Number((await ask(app.port, path)).body.toString())
    const before = [await read('/a'), await read('/b'), await read('/c')]
    await ask(app.port, '/refused', { method: 'POST', body: 'x' })
    expect([await read('/a'), await read('/b'), await read('/c')]).toEqual(before)
    await ask(app.port, '/a', { method: 'POST', body: 'x' })
    expect(await read('/a')).toBeGreaterThan(before[0]!)
    expect(await read('/b')).toBeGreaterThan(before[1]!)
    expect(await read('/c')).toBe(before[2])
  })

  it('a request with `no-store` goes past, and with `only-if-cached` no further', async () => {
    let n = 0
    const { app } = await make(() => ({ body: `${++n}` }))
    const wanting = (directive: string) =>
      ask(app.port, '/', { headers: { 'Cache-Control': directive } })
    expect(await wanting('only-if-cached')).toMatchObject({ status: 504 })
    expect((await wanting('no-store')).body.toString()).toBe('1')
    expect((await ask(app.port, '/')).body.toString()).toBe('2')
    expect((await wanting('max-age=0, no-store')).body.toString()).toBe('3')
    expect((await wanting('only-if-cached')).body.toString()).toBe('2')
    expect((await wanting('no-cache')).body.toString()).toBe('2')
  })

  it('what a request wishes of caches is granted where it is obeyed', async () => {
    let n = 0
    const { app } = await make(() => ({ body: `${++n}` }), { obeyRequest: true })
    const wanting = (directive: string) =>
      ask(app.port, '/', { headers: { 'Cache-Control': directive } })
    expect((await wanting('max-age=60')).body.toString()).toBe('1')
    expect((await wanting('no-cache')).body.toString()).toBe('2')
    expect((await wanting('max-age=60')).body.toString()).toBe('2')
  })

  it('is purged by URL, by tag, and by HTTP with the token', async () => {
    let n = 0
    const { app } = await make(() => ({ headers: { 'Surrogate-Key': 'a b' }, body: `${++n}` }), {
      purge: { token: 'a long enough secret' },
    })
    const read = async (): Promise<string> => (await ask(app.port, '/p?x=1')).body.toString()
    expect(await read()).toBe('1')
    await app.purge('http://shop.test/p?x=1')
    expect(await read()).toBe('2')
    await app.purgeTags('b')
    expect(await read()).toBe('3')
    expect(await ask(app.port, '/p?x=1', { method: 'PURGE' })).toMatchObject({ status: 401 })
    expect(await read()).toBe('3')
    const allowed = { Authorization: 'Bearer a long enough secret' }
    expect(await ask(app.port, '/p?x=1', { method: 'PURGE', headers: allowed })).toMatchObject({
      status: 401,
    })
    expect(await read()).toBe('3')
  })
})
