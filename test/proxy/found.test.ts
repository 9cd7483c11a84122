// Faults that were found by attacking the proxy from outside, each with what is right.

import { connect } from 'node:net'
import { afterEach, expect, it } from 'vitest'
import { proxyProcess } from '../support/proxy-process.ts'
import { bodyOf, proxyRig } from '../support/proxy-rig.ts'
import { ask, connection, get } from '../support/raw-http.ts'

const rig = proxyRig()
afterEach(() => rig.end())

it('a body goes on though the client has offered another protocol, as Java’s does with each request', async () => {
  const bodies: string[] = []
  const { url } = await rig.origin((req, res) => {
    void bodyOf(req).then((body) => res.end(String(bodies.push(body.toString()))))
  })
  const { port } = await rig.proxy(url)
  for (const [lines, body] of [
    ['Content-Length: 5', 'hello'],
    ['Transfer-Encoding: chunked', '5\r\nhello\r\n0\r\n\r\n'],
  ]) {
    const answer = await ask(
      port,
      'POST / HTTP/1.1\r\nHost: site.test\r\nConnection: Upgrade, HTTP2-Settings\r\n' +
        `Upgrade: h2c\r\nHTTP2-Settings: AAMAAABk\r\n${lines}\r\n\r\n${body}`,
    )
    expect(answer.status).toBe(200)
  }
  expect(bodies).toEqual(['hello', 'hello'])
})

it('an answer without end to a client that has offered another protocol ends with the grace', async () => {
  const { url } = await rig.origin((_, res) => {
    res.setHeader('content-type', 'text/event-stream')
    res.write('data: 1\n\n')
  })
  const { port, stop } = await rig.proxy(url, { grace: '100ms' })
  const to = connection(port)
  to.send(get('/', 'Connection: Upgrade', 'Upgrade: h2c'))
  await expect.poll(() => to.rest().toString()).toContain('data: 1')
  await stop()
  await to.ended
})

it('a client that is refused and does not hang up keeps no proxy from stopping', async () => {
  const { url } = await rig.origin((_, res) => void res.end('ok'))
  const { port, stop } = await rig.proxy(url, { grace: '100ms' })
  const to = connection(port)
  to.send('CONNECT other.test:443 HTTP/1.1\r\nHost: other.test\r\n\r\n')
  expect((await to.answer()).status).toBe(405)
  await to.ended
  await stop()
})

it('no spelling of a field that a gateway interface takes for `X-Forwarded-Host` goes on', async () => {
  const { url, seen } = await rig.origin((_, res) => void res.end('ok'))
  const { port } = await rig.proxy(url, { trustProxy: 'all' })
  await ask(
    port,
    get('/', 'X_Forwarded_Host: evil.test', 'X_Original_URL: /admin', 'X-Forwarded_Proto: evil'),
  )
  expect(Object.keys(seen[0]!.headers).filter((name) => name.includes('_'))).toEqual([])
})

it('a signal to all processes of a group, as systemd and a terminal send it, lets what runs end', async () => {
  let answer = (): void => {}
  const { url, seen } = await rig.origin((_, res) => void (answer = () => res.end('whole')))
  const proxy = await proxyProcess(['--origin', url, '--workers', '2'])
  rig.also(() => proxy.end('SIGKILL'))
  const health = await ask(proxy.adminPort, get('/healthz', 'Connection: close'))
  const { pids } = JSON.parse(health.body.toString()) as { pids: number[] }
  const asked = ask(proxy.port, get('/', 'Connection: close'))
  await expect.poll(() => seen.length).toBe(1)
  for (const pid of pids) process.kill(pid, 'SIGTERM')
  // They have heard it when nobody listens any more.
  await expect.poll(() => refused(proxy.port)).toBe(true)
  const ended = proxy.end()
  await expect.poll(() => proxy.stderr()).toContain('stopping')
  setTimeout(answer, 200)
  expect(await asked).toMatchObject({ status: 200, whole: true })
  expect(await ended).toBe(0)
})

it('a proxy whose log nobody reads any more goes on', async () => {
  const { url } = await rig.origin((_, res) => void res.end('ok'))
  const proxy = await proxyProcess(['--origin', url, '--access-log', '-'])
  rig.also(() => proxy.end('SIGKILL'))
  proxy.child.stdout!.destroy()
  for (let n = 0; n < 3; n++) {
    expect((await ask(proxy.port, get(`/${n}`, 'Connection: close'))).status).toBe(200)
  }
  await expect.poll(() => proxy.stderr()).toContain('access log: write EPIPE; none from here on')
  expect((await ask(proxy.port, get('/', 'Connection: close'))).status).toBe(200)
  expect(await proxy.end()).toBe(0)
})

it('a body in a transfer coding that nobody undoes is not passed on without its name', async () => {
  const { url, seen } = await rig.origin((_, res) => void res.end('ok'))
  const { port } = await rig.proxy(url)
  const body = '2\r\nab\r\n0\r\n\r\n'
  const answer = await ask(
    port,
    `POST / HTTP/1.1\r\nHost: site.test\r\nTransfer-Encoding: gzip, chunked\r\n\r\n${body}`,
  )
  expect(answer.status).toBe(501)
  expect(seen).toEqual([])
})

function refused(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => {
      socket.destroy()
      resolve(false)
    }).once('error', () => resolve(true))
  })
}

it.each([
  ['hosts', 'https://www.shop.com'],
  ['hosts', 'shop.com/a'],
  ['vary', 'a b'],
  ['credentials', 'x-key: 1'],
])('%s that can name nothing are refused: %s', async (name, text) => {
  await expect(rig.proxy('http://127.0.0.1:1', { [name]: `fine,${text}` })).rejects.toThrow(
    new RegExp(`^--${name}: expected names .*got "${text}"$`),
  )
})

it('T135 who says who he is by a field with `_`, as `api_key`, is answered past the cache', async () => {
  const { url } = await rig.origin((req, res) => void res.end(String(req.headers['api_key'])))
  const { port } = await rig.proxy(url)
  expect((await ask(port, get('/', 'api_key: Ada'))).body.toString()).toBe('Ada')
  expect((await ask(port, get('/'))).body.toString()).toBe('undefined')
})

it('a field with which an origin guards its answer is no field of the connection', async () => {
  const { url } = await rig.rawOrigin((socket) =>
    socket.write(
      'HTTP/1.1 200 OK\r\nConnection: cache-control, set-cookie, vary\r\nCache-Control: private\r\nSet-Cookie: a=1\r\nVary: *\r\nContent-Length: 2\r\n\r\nok',
    ),
  )
  const { port } = await rig.proxy(url)
  await ask(port, get('/'))
  expect((await ask(port, get('/'))).one('cache-status')).not.toContain('hit')
})

it('hints without end are an answer that does not come', async () => {
  const { url } = await rig.rawOrigin((socket) => {
    const hint = 'HTTP/1.1 103 Early Hints\r\nLink: </a.css>; rel=preload\r\n\r\n'.repeat(20)
    const timer = setInterval(() => socket.write(hint), 5)
    socket.once('close', () => clearInterval(timer)).on('error', () => clearInterval(timer))
  })
  const { port } = await rig.proxy(url, { originTimeout: '30s' })
  const to = connection(port)
  to.send(get('/'))
  await expect.poll(() => to.rest().toString('latin1'), { timeout: 5000 }).toContain(' 502 ')
})
