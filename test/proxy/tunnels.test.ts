// WebSockets pass through, bytes of any kind, both ways and to the end; no other protocol does.

import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { afterEach, expect, it } from 'vitest'
import { binary, hashOf, proxyRig } from '../support/proxy-rig.ts'
import { ask, connection, get } from '../support/raw-http.ts'

const rig = proxyRig()
afterEach(() => rig.end())

const handshake = [
  'Connection: keep-alive, Upgrade',
  'Upgrade: websocket',
  'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
  'Sec-WebSocket-Version: 13',
]
const agreed =
  'HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n' +
  'Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n\r\n'

it('a WebSocket is a tunnel: each side gets the other’s bytes, those behind the heads as well', async () => {
  const data = binary(2 ** 20)
  const { url, sockets, came } = await rig.rawOrigin((socket) => {
    socket.write(`${agreed}welcome`)
    socket.removeAllListeners('data')
    socket.on('data', (piece) => socket.write(piece))
  })
  const { port } = await rig.proxy(url)
  const to = connection(port)
  to.send(get('/chat?a=1', ...handshake))
  const answer = await to.answer()
  expect(answer).toMatchObject({ status: 101, reason: 'Switching Protocols' })
  expect(answer.one('sec-websocket-accept')).toBe('s3pPLMBiTxaQ9kYGzzhZRbK+xOo=')
  expect(answer.all('upgrade')).toEqual(['websocket'])
  await expect.poll(() => to.rest().toString()).toBe('welcome')
  to.send(data)
  await expect.poll(() => to.rest().length).toBe('welcome'.length + data.length)
  expect(hashOf(to.rest().subarray('welcome'.length))).toBe(hashOf(data))
  expect(came[0]).toMatch(/^GET \/chat\?a=1 HTTP\/1\.1\r\n/)
  expect(came[0]).toMatch(/\r\nupgrade: websocket\r\n/i)
  expect(came[0]).toMatch(/\r\nx-forwarded-for: 127\.0\.0\.1\r\n/i)

  const closed = once(sockets[0]!, 'close')
  to.socket.destroy()
  await closed
})

it('a tunnel that the origin ends is ended for the client', async () => {
  const { url, sockets } = await rig.rawOrigin((socket) => socket.write(agreed))
  const { port } = await rig.proxy(url)
  const to = connection(port)
  to.send(get('/', ...handshake))
  expect((await to.answer()).status).toBe(101)
  sockets[0]!.destroy()
  await to.ended
})

it('an origin that refuses the WebSocket is heard with all that it says', async () => {
  const { url } = await rig.rawOrigin((socket) =>
    socket.write('HTTP/1.1 403 Forbidden\r\nX-Why: closed\r\nContent-Length: 6\r\n\r\nclosed'),
  )
  const { port } = await rig.proxy(url)
  const answer = await ask(port, get('/', ...handshake))
  expect(answer).toMatchObject({ status: 403, whole: true })
  expect(answer.one('x-why')).toBe('closed')
  expect(answer.body.toString()).toBe('closed')
})

it('an origin that is away, or does not answer, is told to who wants a WebSocket too', async () => {
  const { url } = await rig.rawOrigin(() => {})
  const slow = await rig.proxy(url, { originTimeout: '100ms' })
  expect((await ask(slow.port, get('/', ...handshake))).status).toBe(504)
  const broken = await rig.rawOrigin((socket) => socket.destroy())
  const other = await rig.proxy(broken.url)
  expect((await ask(other.port, get('/', ...handshake))).status).toBe(502)
})

it('another protocol is not let through: the request is answered as one of HTTP/1.1', async () => {
  const { url, came } = await rig.rawOrigin((socket) =>
    socket.write('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok'),
  )
  const { port } = await rig.proxy(url)
  const answer = await ask(
    port,
    get('/', 'Connection: Upgrade, HTTP2-Settings', 'Upgrade: h2c', 'HTTP2-Settings: AAMAAABk'),
  )
  expect(answer).toMatchObject({ status: 200, whole: true })
  expect(came[0]).not.toMatch(/upgrade|http2-settings/i)
})

it('the handshake’s key is passed on as it came', async () => {
  const { url, came } = await rig.rawOrigin((socket) => socket.write(agreed))
  const { port } = await rig.proxy(url)
  const to = connection(port)
  to.send(get('/', ...handshake))
  const accept = (await to.answer()).one('sec-websocket-accept')
  const key = /sec-websocket-key: (.*)\r\n/i.exec(came[0]!)?.[1] ?? ''
  const guid = '258EAFA5-E914-47DA-95CA-C5AB0DC85B11'
  expect(
    createHash('sha1')
      .update(key + guid)
      .digest('base64'),
  ).toBe(accept)
  to.socket.destroy()
})

it('a proxy that stops does not wait for a tunnel beyond its grace', async () => {
  const { url, sockets } = await rig.rawOrigin((socket, head) => {
    if (head.startsWith('GET /open')) socket.write(agreed)
  })
  const { port, stop } = await rig.proxy(url, { grace: '100ms' })
  const [open, asking] = [connection(port), connection(port)]
  open.send(get('/open', ...handshake))
  expect((await open.answer()).status).toBe(101)
  asking.send(get('/asking', ...handshake))
  await expect.poll(() => sockets.length).toBe(2)
  await stop()
  await Promise.all([open.ended, asking.ended])
})
