// The cache before an origin that nobody can change: one request for all, kept or not by the rules of
// HTTP, refreshed behind the visitors' backs, purged by who may.

import { setTimeout as sleep } from 'node:timers/promises'
import { startRedisServer } from '@breakwater/rig'
import { afterEach, expect, it } from 'vitest'
import { binary, hashOf, proxyRig } from '../support/proxy-rig.ts'
import { ask, connection, get } from '../support/raw-http.ts'

const rig = proxyRig()
afterEach(() => rig.end())

const word = (answer: { one(name: string): string | undefined }): string | undefined =>
  /^breakwater;(hit|fwd=[a-z-]+)/.exec(answer.one('cache-status') ?? '')?.[1]

it('T153 a hundred visitors of a cold page are one request, and each gets every byte', async () => {
  const page = binary(100_000)
  const { url, seen } = await rig.origin((_, res) => {
    setTimeout(() => res.end(page), 200)
  })
  const { port } = await rig.proxy(url)
  const answers = await Promise.all(Array.from({ length: 100 }, () => ask(port, get('/page'))))
  for (const answer of answers) {
    expect(answer).toMatchObject({ status: 200, whole: true })
    expect(hashOf(answer.body)).toBe(hashOf(page))
  }
  expect(seen).toHaveLength(1)
  const hit = await ask(port, get('/page'))
  expect(word(hit)).toBe('hit')
  expect(hit.all('via')).toEqual([expect.stringMatching(/^1\.1 breakwater-/)])
  expect(seen).toHaveLength(1)
})

it('T153 private answers are not shared by those who waited for one', async () => {
  let n = 0
  const { url, seen } = await rig.origin((_, res) => {
    const mine = String(n++)
    res.setHeader('Cache-Control', 'private')
    setTimeout(() => res.end(mine), 50)
  })
  const { port } = await rig.proxy(url)
  const answers = await Promise.all(Array.from({ length: 20 }, () => ask(port, get('/mine'))))
  expect(new Set(answers.map(({ body }) => body.toString())).size).toBe(20)
  expect(seen).toHaveLength(20)
})

it('T141 a leader who leaves costs nobody else the answer', async () => {
  let goOn = (): void => {}
  const { url, seen } = await rig.origin((_, res) => {
    res.write('first, ')
    goOn = () => res.end('last')
  })
  const { port } = await rig.proxy(url)
  const leader = connection(port)
  leader.send(get('/page'))
  await expect.poll(() => leader.rest().toString()).toContain('first')
  const others = Array.from({ length: 5 }, () => ask(port, get('/page')))
  leader.socket.destroy()
  await expect.poll(() => seen.length).toBeGreaterThan(1)
  await expect
    .poll(() => {
      goOn()
      return Promise.race([Promise.all(others).then(() => true), sleep(50).then(() => false)])
    })
    .toBe(true)
  for (const answer of await Promise.all(others)) {
    expect(answer).toMatchObject({ status: 200, whole: true })
    expect(answer.body.toString()).toBe('first, last')
  }
})

it('T141 an answer that broke is not kept', async () => {
  let asked = 0
  const { url } = await rig.rawOrigin((socket) => {
    asked += 1
    if (asked === 1)
      socket.end('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nhalf\r\n')
    else socket.write('HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nwhole')
  })
  const { port } = await rig.proxy(url)
  expect(await ask(port, get('/'))).toMatchObject({ whole: false })
  expect((await ask(port, get('/'))).body.toString()).toBe('whole')
})

it('T135 requests with credentials go past the cache, there and back', async () => {
  const { url, seen } = await rig.origin((req, res) => {
    res.end(`for ${req.headers.authorization ?? req.headers.cookie ?? 'all'}`)
  })
  const { port } = await rig.proxy(url, { ignoreCookies: 'seen_*' })
  const of = async (...lines: string[]) => (await ask(port, get('/', ...lines))).body.toString()
  expect(await of('Authorization: Basic YTpi')).toBe('for Basic YTpi')
  expect(await of()).toBe('for all')
  expect(await of('Cookie: session=1')).toBe('for session=1')
  expect(await of('Cookie: seen_banner=1')).toBe('for all')
  expect(seen).toHaveLength(3)
})

it('a host, a scheme or an address that a visitor claims is in no page of another', async () => {
  const { url } = await rig.origin((req, res) => {
    const { host, via: _, connection: __, ...rest } = req.headers
    res.end(JSON.stringify({ host, ...rest }))
  })
  const { port } = await rig.proxy(url)
  const evil = [
    'X-Forwarded-Host: evil.test',
    'X-Forwarded-Proto: evil',
    'X-Forwarded-Prefix: evil',
    'X-Original-URL: /evil',
    'X-HTTP-Method-Override: evil',
    'Forwarded: host=evil.test',
    'X-Host: evil.test',
  ]
  await ask(port, get('/', ...evil).replace('site.test', 'evil.test'))
  const next = await ask(port, get('/'))
  expect(word(next)).toBe('hit')
  expect(next.body.toString()).not.toContain('evil')
  expect(JSON.parse(next.body.toString()).host).toBe(new URL(url).host)
})

it('a field that Connection takes from the request chooses no answer', async () => {
  const { url } = await rig.origin((req, res) => {
    res.setHeader('Vary', 'Accept-Language')
    res.end(req.headers['accept-language'] ?? 'none')
  })
  const { port } = await rig.proxy(url)
  const taken = get('/', 'Accept-Language: de', 'Connection: close, Accept-Language')
  expect((await ask(port, taken)).body.toString()).toBe('none')
  expect((await ask(port, get('/', 'Accept-Language: de'))).body.toString()).toBe('de')
})

it('where hosts are configured each has its own pages, and others have none', async () => {
  const { url, seen } = await rig.origin((req, res) => res.end(req.headers.host))
  const { port } = await rig.proxy(url, { hosts: 'a.test,b.test' })
  const of = async (host: string) => {
    const answer = await ask(port, get('/').replace('site.test', host))
    return [answer.body.toString(), word(answer)]
  }
  expect(await of('a.test')).toEqual(['a.test', 'fwd=miss'])
  expect(await of('b.test')).toEqual(['b.test', 'fwd=miss'])
  expect(await of('A.test')).toEqual(['a.test', 'hit'])
  expect(await of('c.test')).toEqual(['c.test', 'fwd=bypass'])
  expect(await of('c.test')).toEqual(['c.test', 'fwd=bypass'])
  expect(seen).toHaveLength(4)
})

it('behind a trusted proxy the scheme that it tells keeps pages apart', async () => {
  const { url } = await rig.origin((req, res) => {
    const isPlain = req.headers['x-forwarded-proto'] === 'http'
    if (isPlain)
      res.writeHead(301, { Location: 'https://site.test/', 'Cache-Control': 'max-age=60' })
    res.end('page')
  })
  const { port } = await rig.proxy(url, { trustProxy: 'all' })
  expect((await ask(port, get('/', 'X-Forwarded-Proto: http'))).status).toBe(301)
  expect((await ask(port, get('/', 'X-Forwarded-Proto: https'))).status).toBe(200)
})

it('T150 a stale page is there at once, and one refresh runs without the visitor’s credentials', async () => {
  let n = 0
  let goOn = (): void => {}
  const { url, seen } = await rig.origin((_, res) => {
    res.setHeader('Cache-Control', 'max-age=1, stale-while-revalidate=60')
    const text = `v${++n}`
    if (n === 1) res.end(text)
    else goOn = () => res.end(text)
  })
  const { port } = await rig.proxy(url, { ignoreCookies: '*' })
  expect(
    (await ask(port, get('/', 'Cookie: s=1', 'X-Forwarded-For: 6.6.6.6'))).body.toString(),
  ).toBe('v1')
  await sleep(1_100)
  const stale = await Promise.all(
    Array.from({ length: 20 }, () => ask(port, get('/', 'Cookie: s=2'))),
  )
  expect(new Set(stale.map(({ body }) => body.toString()))).toEqual(new Set(['v1']))
  await expect.poll(() => seen.length).toBe(2)
  goOn()
  await expect.poll(async () => (await ask(port, get('/'))).body.toString()).toBe('v2')
  expect(seen).toHaveLength(2)
  const { headers } = seen[1]!
  expect(headers.via).toMatch(/^1\.1 breakwater-/)
  expect(headers.host).toBe(new URL(url).host)
  expect(headers).not.toHaveProperty('cookie')
  expect(headers).not.toHaveProperty('x-forwarded-for')
})

it('T144 an old page covers an origin that fails or is away, and its error is not kept', async () => {
  let mode: 'well' | 'failing' | 'breaking' = 'well'
  const { url, server } = await rig.origin((req, res) => {
    if (mode === 'breaking') return void req.socket.destroy()
    if (mode === 'failing') res.statusCode = 503
    res.setHeader('Cache-Control', 'max-age=1, stale-if-error=60')
    res.end(mode)
  })
  const { port } = await rig.proxy(url)
  const of = async (path: string) => {
    const { status, body } = await ask(port, get(path))
    return [status, body.toString()]
  }
  expect(await of('/')).toEqual([200, 'well'])
  await sleep(1_100)
  mode = 'failing'
  expect(await of('/')).toEqual([200, 'well'])
  expect(await of('/other')).toEqual([503, 'failing'])
  mode = 'breaking'
  expect(await of('/')).toEqual([200, 'well'])
  server.closeAllConnections()
  server.close()
  expect(await of('/')).toEqual([200, 'well'])
  expect(await of('/other')).toEqual([502, 'The origin could not be reached.\n'])
})

it('a page is purged by its path or its tags, by who has the token alone', async () => {
  let n = 0
  const { url } = await rig.origin((req, res) => {
    res.setHeader('Surrogate-Key', `all page${req.url!.replace('/', '-')}`)
    res.end(`v${++n}`)
  })
  const token = 'a-long-enough-token'
  const { port } = await rig.proxy(url, { purgeToken: token })
  const page = async (path: string) => (await ask(port, get(path))).body.toString()
  const purge = async (path: string, ...lines: string[]) =>
    (await ask(port, get(path, ...lines).replace('GET', 'PURGE'))).status
  expect([await page('/a'), await page('/b')]).toEqual(['v1', 'v2'])
  expect(await purge('/a')).toBe(401)
  expect(await purge('/a', 'Authorization: Bearer wrong')).toBe(401)
  expect([await page('/a'), await page('/b')]).toEqual(['v1', 'v2'])
  expect(await purge('/a', `Authorization: Bearer ${token}`)).toBe(200)
  expect([await page('/a'), await page('/b')]).toEqual(['v3', 'v2'])
  expect(await purge('/', `Authorization: Bearer ${token}`, 'Surrogate-Key: all')).toBe(200)
  expect([await page('/a'), await page('/b')]).toEqual(['v4', 'v5'])
})

it('two proxies on one Redis ask once, and a purge reaches both', async () => {
  const server = await startRedisServer()
  rig.also(() => server.stop())
  let n = 0
  const { url, seen } = await rig.origin((_, res) => {
    const text = `v${++n}`
    setTimeout(() => res.end(text), 200)
  })
  const token = 'a-long-enough-token'
  const options = { redis: server.url, namespace: 'site', purgeToken: token, storeTimeout: '10s' }
  const proxies = [await rig.proxy(url, options), await rig.proxy(url, options)]
  const all = async () => {
    const answers = Array.from({ length: 40 }, (_, at) => ask(proxies[at % 2]!.port, get('/page')))
    return [...new Set((await Promise.all(answers)).map(({ body }) => body.toString()))]
  }
  expect(await all()).toEqual(['v1'])
  expect(seen).toHaveLength(1)
  const purge = get('/page', `Authorization: Bearer ${token}`).replace('GET', 'PURGE')
  expect((await ask(proxies[0]!.port, purge)).status).toBe(200)
  expect(await all()).toEqual(['v2'])
  expect(seen).toHaveLength(2)
})
