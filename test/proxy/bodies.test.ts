// Bodies in both directions: every byte, as fast as the slower side, and broken where they were broken.

import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { request } from 'node:http'
import { afterEach, expect, it } from 'vitest'
import { binary, bodyOf, hashOf, proxyRig } from '../support/proxy-rig.ts'
import { ask, connection, get } from '../support/raw-http.ts'

const rig = proxyRig()
afterEach(() => rig.end())

const megabyte = binary(2 ** 20)

it.each(['chunked', 'with a length', 'until the end of the connection'])(
  'a binary answer %s arrives byte by byte',
  async (how) => {
    const heads = {
      chunked: 'Transfer-Encoding: chunked\r\n',
      'with a length': `Content-Length: ${megabyte.length}\r\n`,
      'until the end of the connection': '',
    }
    const { url } = await rig.rawOrigin((socket) => {
      socket.write(`HTTP/1.1 200 OK\r\n${heads[how as keyof typeof heads]}\r\n`)
      if (how !== 'chunked') return socket.end(megabyte)
      for (let at = 0; at < megabyte.length; at += 100_000) {
        const piece = megabyte.subarray(at, at + 100_000)
        socket.write(`${piece.length.toString(16)};name=value\r\n`)
        socket.write(piece)
        socket.write('\r\n')
      }
      return socket.write('0\r\nX-Trailer: 1\r\n\r\n')
    })
    const { port } = await rig.proxy(url)
    const answer = await ask(port, get('/'))
    expect(answer).toMatchObject({ status: 200, whole: true })
    expect(hashOf(answer.body)).toBe(hashOf(megabyte))
    // A client of HTTP/1.0 knows no chunks.
    const old = await ask(port, 'GET / HTTP/1.0\r\nHost: site.test\r\n\r\n')
    expect(old).toMatchObject({ status: 200, whole: true })
    expect(old.all('transfer-encoding')).toEqual([])
    expect(hashOf(old.body)).toBe(hashOf(megabyte))
  },
)

it.each(['chunked', 'with a length'])(
  'a body that is sent %s arrives byte by byte',
  async (how) => {
    const { url, seen } = await rig.origin((req, res) => {
      void bodyOf(req).then((body) => res.end(hashOf(body)))
    })
    const { port } = await rig.proxy(url)
    const to = connection(port)
    const head = 'POST /up HTTP/1.1\r\nHost: site.test\r\n'
    if (how === 'chunked') {
      to.send(`${head}Transfer-Encoding: chunked\r\n\r\n${megabyte.length.toString(16)}\r\n`)
      to.send(megabyte)
      to.send('\r\n0\r\n\r\n')
    } else {
      to.send(`${head}Content-Length: ${megabyte.length}\r\n\r\n`)
      to.send(megabyte)
    }
    expect((await to.answer()).body.toString()).toBe(hashOf(megabyte))
    expect(seen[0]!.headers['content-length']).toBe(
      how === 'chunked' ? undefined : String(megabyte.length),
    )
    // The connection is good for another one.
    to.send(`${head}Content-Length: 0\r\n\r\n`)
    expect((await to.answer()).body.toString()).toBe(hashOf(''))
    to.socket.destroy()
  },
)

it.each([
  ['GET', 'HTTP/1.1 204 No Content\r\nETag: "a"\r\n\r\n', undefined],
  ['GET', 'HTTP/1.1 304 Not Modified\r\nContent-Length: 1234\r\nETag: "a"\r\n\r\n', '1234'],
  ['GET', 'HTTP/1.1 205 Reset Content\r\nContent-Length: 0\r\nETag: "a"\r\n\r\n', '0'],
])(
  'to %s, %j has no body, and the next answer on the connection is right',
  async (method, head, length) => {
    const next = 'HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nnext'
    const { url } = await rig.rawOrigin((socket, asked) =>
      socket.write(asked.includes(' /next ') ? next : head),
    )
    const { port } = await rig.proxy(url)
    const to = connection(port)
    to.send(get('/').replace('GET', method))
    const answer = await to.answer(method)
    expect(`HTTP/1.1 ${answer.status} ${answer.reason}`).toBe(head.split('\r\n')[0])
    expect(answer.one('content-length')).toBe(length)
    expect(answer.one('etag')).toBe('"a"')
    to.send(get('/next'))
    expect((await to.answer()).body.toString()).toBe('next')
    to.socket.destroy()
  },
)

it.each([
  ['that is kept', 'Cache-Control: max-age=60'],
  ['that is not kept', 'Cache-Control: no-store'],
])('HEAD of an answer %s has its length and no body', async (_, control) => {
  const { url } = await rig.rawOrigin((socket) =>
    socket.write(`HTTP/1.1 200 OK\r\n${control}\r\nETag: "a"\r\nContent-Length: 4\r\n\r\nbody`),
  )
  const { port } = await rig.proxy(url)
  const to = connection(port)
  to.send(get('/').replace('GET', 'HEAD'))
  const answer = await to.answer('HEAD')
  expect(answer).toMatchObject({ status: 200 })
  expect([answer.one('content-length'), answer.one('etag')]).toEqual(['4', '"a"'])
  to.send(get('/'))
  expect((await to.answer()).body.toString()).toBe('body')
  to.socket.destroy()
})

it('HEAD of an answer that is not kept does not fetch its body', async () => {
  const { url, sockets } = await rig.rawOrigin((socket) =>
    socket.write('HTTP/1.1 200 OK\r\nCache-Control: no-store\r\nContent-Length: 1000000\r\n\r\n'),
  )
  const { port } = await rig.proxy(url)
  const answer = await ask(port, get('/').replace('GET', 'HEAD'), 'HEAD')
  expect(answer.one('content-length')).toBe('1000000')
  await expect.poll(() => sockets[0]!.destroyed).toBe(true)
})

it('HEAD past the cache is a HEAD for the origin', async () => {
  const { url, came } = await rig.rawOrigin((socket) =>
    socket.write('HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\n'),
  )
  const { port } = await rig.proxy(url)
  const head = get('/', 'Authorization: Basic YTpi').replace('GET', 'HEAD')
  const answer = await ask(port, head, 'HEAD')
  expect([answer.status, answer.one('content-length')]).toEqual([200, '4'])
  expect(came[0]).toMatch(/^HEAD /)
})

it('an endless answer reaches the client piece by piece, its head at once', async () => {
  const { url, sockets } = await rig.rawOrigin((socket) =>
    socket.write(
      'HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n',
    ),
  )
  const { port } = await rig.proxy(url)
  const to = connection(port)
  to.send(get('/events'))
  await expect.poll(() => to.rest().toString()).toMatch(/^HTTP\/1\.1 200 OK\r\n.*\r\n\r\n$/s)
  for (const event of ['first', 'second']) {
    sockets[0]!.write(`${event.length.toString(16)}\r\n${event}\r\n`)
    await expect.poll(() => to.rest().toString()).toContain(event)
  }
  // The client leaves, and the origin is not kept busy.
  to.socket.destroy()
  await once(sockets[0]!, 'close')
})

it('an answer that the client does not read stops the origin, until it reads on', async () => {
  const total = 32 * 2 ** 20
  let sent = 0
  const { url } = await rig.origin((_, res) => {
    res.writeHead(200, { 'Content-Length': total })
    const more = (): void => {
      while (sent < total) {
        sent += megabyte.length
        if (!res.write(megabyte)) return void res.once('drain', more)
      }
      res.end()
    }
    more()
  })
  const { port } = await rig.proxy(url)
  const asked = request({ port, host: '127.0.0.1', path: '/' }).end()
  const [answer] = await once(asked, 'response')
  // What it takes when nobody reads: the buffers of two connections and no more.
  let before = -1
  await expect
    .poll(
      () => {
        const rests = sent === before
        before = sent
        return rests
      },
      { interval: 200 },
    )
    .toBe(true)
  expect(sent).toBeLessThan(total / 2)
  const hash = createHash('sha256')
  for await (const piece of answer) hash.update(piece as Buffer)
  const whole = createHash('sha256')
  for (let n = 0; n < total; n += megabyte.length) whole.update(megabyte)
  expect(hash.digest('hex')).toBe(whole.digest('hex'))
})

it('a body that the origin does not read stops the client, until it reads on', async () => {
  const total = 32 * 2 ** 20
  let readOn = (): void => {}
  const { url } = await rig.origin((req, res) => {
    readOn = () => void bodyOf(req).then((body) => res.end(String(body.length)))
  })
  const { port } = await rig.proxy(url)
  const asked = request({
    port,
    host: '127.0.0.1',
    method: 'PUT',
    headers: { 'Content-Length': total },
  })
  let sent = 0
  const more = (): void => {
    while (sent < total) {
      sent += megabyte.length
      if (!asked.write(megabyte)) return void asked.once('drain', more)
    }
    asked.end()
  }
  more()
  let before = -1
  await expect
    .poll(
      () => {
        const rests = sent === before
        before = sent
        return rests && sent > 0
      },
      { interval: 200 },
    )
    .toBe(true)
  expect(sent).toBeLessThan(total / 2)
  readOn()
  const [answer] = await once(asked, 'response')
  expect((await bodyOf(answer)).toString()).toBe(String(total))
})

it.each([
  ['a length', 'Content-Length: 100\r\n\r\nhalf'],
  ['chunks', 'Transfer-Encoding: chunked\r\n\r\n4\r\nhalf\r\n'],
])('T141 an answer with %s that breaks in its middle is broken for the client', async (_, rest) => {
  const { url } = await rig.rawOrigin((socket) => socket.end(`HTTP/1.1 200 OK\r\n${rest}`))
  const { port } = await rig.proxy(url)
  const answer = await ask(port, get('/'))
  expect(answer).toMatchObject({ status: 200, whole: false })
  const old = await ask(port, 'GET / HTTP/1.0\r\nHost: site.test\r\n\r\n')
  expect(old).toMatchObject({ status: 200, whole: false })
})

it('a client that leaves in the middle of its body ends the origin’s request', async () => {
  const { url, sockets, came } = await rig.rawOrigin(() => {})
  const { port } = await rig.proxy(url)
  const to = connection(port)
  to.send('POST / HTTP/1.1\r\nHost: site.test\r\nContent-Length: 100\r\n\r\nhalf')
  await expect.poll(() => came[0]).toMatch(/half$/)
  const closed = once(sockets[0]!, 'close')
  to.socket.destroy()
  await closed
})

it.each(['with a length', 'chunked'])(
  'a body over the limit, %s, is refused and ends there',
  async (how) => {
    const { url } = await rig.origin((req, res) => {
      req.on('error', () => {})
      void bodyOf(req).then(
        () => res.end(),
        () => {},
      )
    })
    const { port } = await rig.proxy(url, { maxBody: '1KiB' })
    const to = connection(port)
    const head = 'POST / HTTP/1.1\r\nHost: site.test\r\n'
    if (how === 'chunked')
      to.send(`${head}Transfer-Encoding: chunked\r\n\r\n800\r\n${'x'.repeat(2_048)}`)
    else to.send(`${head}Content-Length: 1025\r\n\r\n`)
    expect(await to.answer()).toMatchObject({ status: 413 })
    await to.ended
    expect(
      await ask(port, `${head}Content-Length: 1024\r\n\r\n${'x'.repeat(1_024)}`),
    ).toMatchObject({ status: 200 })
  },
)
