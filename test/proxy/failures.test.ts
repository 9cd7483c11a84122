// An origin that is away, or slow, or breaks, is told to the client in a few words and within a time.

import { once } from 'node:events'
import { createServer } from 'node:net'
import { afterEach, expect, it } from 'vitest'
import { proxyRig } from '../support/proxy-rig.ts'
import { ask, connection, get } from '../support/raw-http.ts'

const rig = proxyRig()
afterEach(() => rig.end())

it('an origin that is away is a 502 without its address', async () => {
  const gone = await rig.origin((_, res) => res.end())
  gone.server.close()
  await once(gone.server, 'close')
  const { port } = await rig.proxy(gone.url)
  const answer = await ask(port, get('/'))
  expect(answer).toMatchObject({ status: 502, whole: true })
  expect(answer.body.toString()).toBe('The origin could not be reached.\n')
})

it('an origin that does not answer is a 504 after --origin-timeout', async () => {
  const { url, sockets } = await rig.rawOrigin(() => {})
  const { port } = await rig.proxy(url, { originTimeout: '100ms' })
  const answer = await ask(port, get('/'))
  expect(answer).toMatchObject({ status: 504 })
  expect(answer.body.toString()).toBe('The origin has not answered in time.\n')
  await expect.poll(() => sockets.every(({ destroyed }) => destroyed)).toBe(true)
})

it('who gets no connection to the origin within --connect-timeout is told so', async () => {
  const { url, came } = await rig.rawOrigin(() => {})
  const { port } = await rig.proxy(url, { connections: '1', connectTimeout: '300ms' })
  const first = connection(port)
  first.send(get('/first'))
  await expect.poll(() => came).toHaveLength(1)
  const second = await ask(port, get('/second'))
  expect(second).toMatchObject({ status: 504 })
  expect(second.body.toString()).toBe('The origin could not be reached in time.\n')
  first.socket.destroy()
  expect(came.join('')).not.toContain('second')
})

it('an answer that stops in its middle for --idle-timeout is broken off', async () => {
  const { url } = await rig.rawOrigin((socket) =>
    socket.write('HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf'),
  )
  const { port } = await rig.proxy(url, { idleTimeout: '100ms' })
  expect(await ask(port, get('/'))).toMatchObject({ status: 200, whole: false })
})

it('a head over --max-header is refused on either side', async () => {
  const { url } = await rig.rawOrigin((socket) =>
    socket.write(`HTTP/1.1 200 OK\r\nX-Long: ${'x'.repeat(3_000)}\r\nContent-Length: 0\r\n\r\n`),
  )
  const { port } = await rig.proxy(url, { maxHeader: '2KiB' })
  expect(await ask(port, get('/'))).toMatchObject({ status: 502 })
  expect(await ask(port, get('/', `X-Long: ${'x'.repeat(3_000)}`))).toMatchObject({ status: 431 })
})

it('a connection on which no request comes to its end is not kept for ever', async () => {
  const { url } = await rig.rawOrigin(() => {})
  const { port } = await rig.proxy(url, {
    idleTimeout: '100ms',
    originTimeout: '100ms',
    connectTimeout: '100ms',
  })
  const to = connection(port)
  to.send('POST / HTTP/1.1\r\nHost: site.test\r\nContent-Length: 10\r\n\r\nhalf')
  await to.ended
})

it('an https origin is taken by its authority’s certificate alone', async () => {
  const tls = new URL('../cli/tls/', import.meta.url).pathname
  const { createServer: createTlsServer } = await import('node:https')
  const { readFileSync } = await import('node:fs')
  const server = createTlsServer(
    { key: readFileSync(`${tls}server.key`), cert: readFileSync(`${tls}server.pem`) },
    (req, res) => res.end(req.headers.host),
  ).listen(0)
  rig.also(() => {
    server.closeAllConnections()
    server.close()
  })
  await once(server, 'listening')
  const to = `https://localhost:${(server.address() as { port: number }).port}`
  const trusting = await rig.proxy(to, { originCa: `${tls}ca.pem` })
  const answer = await ask(trusting.port, get('/'))
  expect(answer.body.toString()).toBe(new URL(to).host)
  // By its own name, whichever name the client asks by.
  const hosts = await rig.proxy(to, { originCa: `${tls}ca.pem`, hosts: 'site.test' })
  expect((await ask(hosts.port, get('/'))).body.toString()).toBe('site.test')
  const without = await rig.proxy(to)
  expect(await ask(without.port, get('/'))).toMatchObject({ status: 502 })
  const insecure = await rig.proxy(to, { originInsecure: true })
  expect(await ask(insecure.port, get('/'))).toMatchObject({ status: 200 })
})

it('a port that is taken is an error in one sentence', async () => {
  const taken = createServer().listen(0, '127.0.0.1')
  await once(taken, 'listening')
  rig.also(() => taken.close())
  const { port } = taken.address() as { port: number }
  await expect(rig.proxy('http://127.0.0.1:1', { port: String(port) })).rejects.toThrow(
    `cannot listen on 127.0.0.1, port ${port}`,
  )
})
