// What of a request reaches the origin, and of an answer the client: fields of a connection stay on it,
// and nobody says who the client is but the proxy.

import { afterEach, expect, it } from 'vitest'
import { proxyRig } from '../support/proxy-rig.ts'
import { ask, get } from '../support/raw-http.ts'

const rig = proxyRig()
afterEach(() => rig.end())

/** An origin that tells what it was asked. */
const telling = () =>
  rig.origin((req, res) => {
    res.setHeader('Content-Type', 'application/json')
    res.end(JSON.stringify({ url: req.url, method: req.method, headers: req.headers }))
  })

interface Asked {
  readonly url: string
  readonly method: string
  readonly headers: Record<string, string>
}

async function asked(port: number, request: string): Promise<Asked> {
  return JSON.parse((await ask(port, request)).body.toString()) as Asked
}

it('fields of the client’s connection, and those that Connection names, are not passed on', async () => {
  const { url } = await telling()
  const { port } = await rig.proxy(url)
  const { headers } = await asked(
    port,
    get(
      '/',
      'Connection: keep-alive, X-Mine, x-forwarded-for, Host, Content-Length, Via',
      'Keep-Alive: timeout=5',
      'Proxy-Connection: keep-alive',
      'Proxy-Authorization: Basic eDp5',
      'TE: trailers',
      'Trailer: X-Sum',
      'X-Mine: 1',
      'X-Other: 2',
    ),
  )
  for (const name of [
    'keep-alive',
    'proxy-connection',
    'proxy-authorization',
    'te',
    'trailer',
    'x-mine',
  ]) {
    expect(headers).not.toHaveProperty(name)
  }
  expect(headers).toMatchObject({
    'x-other': '2',
    'x-forwarded-for': '127.0.0.1',
    host: new URL(url).host,
  })
  expect(headers['via']).toMatch(/^1\.1 breakwater-[0-9a-f]{8}$/)
})

it('fields of the origin’s connection, and those that Connection names, are not passed on', async () => {
  const { url } = await rig.rawOrigin((socket) =>
    socket.write(
      'HTTP/1.1 200 All right\r\nConnection: X-Inner, keep-alive\r\nKeep-Alive: timeout=9\r\nUpgrade: h2c\r\n' +
        'X-Inner: 1\r\nX-Outer: 2\r\nVia: 1.0 inner\r\nProxy-Connection: close\r\nContent-Length: 2\r\n\r\nok',
    ),
  )
  const { port } = await rig.proxy(url)
  const answer = await ask(port, get('/'))
  expect(answer).toMatchObject({ status: 200, reason: 'All right', whole: true })
  expect(answer.body.toString()).toBe('ok')
  expect(answer.one('x-outer')).toBe('2')
  for (const name of ['x-inner', 'upgrade', 'proxy-connection'])
    expect(answer.all(name)).toEqual([])
  expect(answer.all('keep-alive')).not.toContain('timeout=9')
  expect(answer.all('via')).toEqual([expect.stringMatching(/^1\.0 inner, 1\.1 breakwater-/)])
})

it('several Set-Cookie lines stay several, bytes beyond ASCII stay as they are, and so do empty values', async () => {
  const { url } = await rig.rawOrigin((socket) =>
    socket.write(
      Buffer.from(
        'HTTP/1.1 200 OK\r\nSet-Cookie: a=1; Path=/, x\r\nX-MiXed: \xe4\xff\r\nX-Empty:\r\nSet-Cookie: b=2\r\n' +
          'WWW-Authenticate: Basic\r\nWWW-Authenticate: Bearer\r\nContent-Length: 0\r\n\r\n',
        'latin1',
      ),
    ),
  )
  const { port } = await rig.proxy(url)
  const answer = await ask(port, get('/'))
  expect(answer.all('set-cookie')).toEqual(['a=1; Path=/, x', 'b=2'])
  expect(answer.all('www-authenticate').join(', ')).toBe('Basic, Bearer')
  expect(answer.all('x-mixed')).toEqual(['\xe4\xff'])
  expect(answer.all('x-empty')).toEqual([''])
})

const claims = [
  'X-Forwarded-For: 6.6.6.6',
  'X-Forwarded-Proto: https',
  'X-Forwarded-Host: evil.test',
  'X-Forwarded-Port: 1',
  'X-Forwarded-Prefix: /evil',
  'X-Real-IP: 6.6.6.6',
  'X-Original-URL: /admin',
  'X-Rewrite-URL: /admin',
  'X-HTTP-Method-Override: POST',
  'Forwarded: for=6.6.6.6;host=evil.test;proto=https, for="[2001:db8::1]:80"',
]

it('what a client claims about where it comes from is dropped', async () => {
  const { url } = await telling()
  const { port } = await rig.proxy(url)
  const { headers } = await asked(port, get('/', ...claims))
  expect(JSON.stringify(headers)).not.toMatch(/6\.6\.6\.6|evil|admin|POST/)
  expect(headers).toMatchObject({ 'x-forwarded-for': '127.0.0.1', 'x-forwarded-proto': 'http' })
  // It would be in no key.
  expect(headers).not.toHaveProperty('x-forwarded-host')
  expect(headers).not.toHaveProperty('forwarded')
})

it('a proxy that is trusted is believed about the client', async () => {
  const { url } = await telling()
  const { port } = await rig.proxy(url, { trustProxy: '10.0.0.0/8,127.0.0.1' })
  const { headers } = await asked(port, get('/', ...claims))
  expect(headers).toMatchObject({
    'x-forwarded-for': '6.6.6.6, 127.0.0.1',
    'x-forwarded-proto': 'https',
    'x-forwarded-host': 'evil.test',
    'x-forwarded-prefix': '/evil',
    forwarded: `${claims.at(-1)!.replace('Forwarded: ', '')}, for=127.0.0.1`,
  })

  const others = await rig.proxy(url, { trustProxy: '10.0.0.0/8' })
  expect(await asked(others.port, get('/', ...claims))).toMatchObject({
    headers: { 'x-forwarded-for': '127.0.0.1', 'x-forwarded-proto': 'http' },
  })
})

it('the origin is asked by its own name, and by the client’s where hosts are configured', async () => {
  const { url } = await telling()
  const own = await rig.proxy(url)
  expect((await asked(own.port, get('/'))).headers['host']).toBe(new URL(url).host)
  const theirs = await rig.proxy(url, { hosts: 'site.test, other.test' })
  expect((await asked(theirs.port, get('/'))).headers).toMatchObject({
    host: 'site.test',
    'x-forwarded-host': 'site.test',
  })
})

it('a redirect of the origin to itself is one to the site', async () => {
  const { url } = await rig.origin((req, res) => {
    const to = decodeURIComponent(req.url!.slice(1)).replace('ORIGIN', `http://${req.headers.host}`)
    res.writeHead(302, { Location: to }).end()
  })
  const { port } = await rig.proxy(url)
  const location = async (to: string): Promise<string | undefined> =>
    (await ask(port, get(`/${encodeURIComponent(to)}`))).one('location')
  expect(await location('ORIGIN/a?b#c')).toBe('/a?b#c')
  expect(await location('ORIGIN')).toBe('/')
  expect(await location('ORIGIN?x')).toBe('/?x')
  expect(await location('https://else.test/a')).toBe('https://else.test/a')
  expect(await location('ORIGIN1/a')).toBe(`${url}1/a`)
  expect(await location('ORIGIN//evil.test')).toBe(`${url}//evil.test`)
})
