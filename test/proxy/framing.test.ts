// One request is one request to both sides, and one answer is one answer; what is told in between is
// passed on or left out, and never taken for the answer.

import { afterEach, expect, it } from 'vitest'
import { bodyOf, proxyRig } from '../support/proxy-rig.ts'
import { ask, connection, get } from '../support/raw-http.ts'

const rig = proxyRig()
afterEach(() => rig.end())

const ok = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok'
const smuggled = 'GET /smuggled HTTP/1.1\r\nHost: site.test\r\n\r\n'

it.each([
  ['two lengths', 'Content-Length: 0\r\nContent-Length: 10\r\n'],
  ['a length twice', 'Content-Length: 4\r\nContent-Length: 4\r\n'],
  ['a list of lengths', 'Content-Length: 4, 4\r\n'],
  ['a length and chunks', 'Content-Length: 4\r\nTransfer-Encoding: chunked\r\n'],
  ['chunks and a length', 'Transfer-Encoding: chunked\r\nContent-Length: 4\r\n'],
  ['a coding that is none', 'Transfer-Encoding: xchunked\r\n'],
  ['chunks that are not last', 'Transfer-Encoding: chunked, identity\r\n'],
  ['two codings', 'Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n'],
  ['a space before the colon', 'Transfer-Encoding : chunked\r\n'],
  ['a negative length', 'Content-Length: -1\r\n'],
  ['a length with a sign', 'Content-Length: +4\r\n'],
  ['a folded line', 'X-A: 1\r\n Content-Length: 4\r\n'],
  ['a bare CR', 'X-A: 1\rTransfer-Encoding: chunked\r\n'],
  ['a zero byte', 'X-A: \0\r\n'],
])('a request with %s is refused, and nothing behind it is taken for one', async (_, lines) => {
  const { url, came } = await rig.rawOrigin((socket) => socket.write(ok))
  const { port } = await rig.proxy(url)
  const to = connection(port)
  to.send(`POST / HTTP/1.1\r\nHost: site.test\r\n${lines}\r\n0\r\n\r\n${smuggled}`)
  expect((await to.answer()).status).toBe(400)
  await to.ended
  expect(to.rest().toString()).toBe('')
  expect(came.join('')).not.toContain('smuggled')
})

it.each([
  ['two lengths', 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 40\r\n\r\nok'],
  ['a length that is none', 'HTTP/1.1 200 OK\r\nContent-Length: 2x\r\n\r\nok'],
  ['a head without an end', 'HTTP/1.1 200 OK\r\nContent-Le'],
  ['no head at all', 'SSH-2.0-OpenSSH\r\n\r\n'],
  ['nothing', ''],
  [
    'a switch that nobody asked for',
    'HTTP/1.1 101 Switching\r\nUpgrade: a\r\nConnection: upgrade\r\n\r\n',
  ],
])('an answer with %s is no answer', async (_, bytes) => {
  const { url } = await rig.rawOrigin((socket) => socket.end(bytes))
  const { port } = await rig.proxy(url)
  const answer = await ask(port, get('/'))
  expect(answer).toMatchObject({ status: 502, whole: true })
  expect(answer.one('cache-control')).toBe('no-store')
})

it('an answer with a length and chunks is read as chunks, or not at all, and its rest is no answer', async () => {
  const { url } = await rig.rawOrigin((socket, head) => {
    if (head.startsWith('GET /next')) return socket.write(ok)
    return socket.write(
      'HTTP/1.1 200 OK\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n' +
        `3\r\nabc\r\n0\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil`,
    )
  })
  const { port } = await rig.proxy(url)
  const first = await ask(port, get('/'))
  if (first.status === 200) {
    expect(first.all('content-length')).toEqual([])
    expect(first.body.toString()).toBe('abc')
  } else expect(first.status).toBe(502)
  expect((await ask(port, get('/next'))).body.toString()).toBe('ok')
})

it('a connection that the origin has closed at rest costs no answer', async () => {
  let asked = 0
  const { url } = await rig.rawOrigin((socket) => {
    asked += 1
    // The second request on it meets its end.
    if (asked === 2) socket.destroy()
    else socket.write(ok)
  })
  const { port } = await rig.proxy(url, { connections: '1' })
  for (const path of ['/1', '/2', '/3']) {
    expect(await ask(port, get(path))).toMatchObject({ status: 200, whole: true })
  }
  expect(asked).toBe(4)
})

it('what may have been done is not sent again', async () => {
  const { url, came } = await rig.rawOrigin((socket) => socket.destroy())
  const { port } = await rig.proxy(url)
  const post = 'POST / HTTP/1.1\r\nHost: site.test\r\nContent-Length: 2\r\n\r\nab'
  expect(await ask(port, post)).toMatchObject({ status: 502 })
  expect(came).toHaveLength(1)
})

it('100 Continue is told when the body is wanted, and not where it is refused', async () => {
  const { url, seen } = await rig.origin((req, res) => {
    void bodyOf(req).then((body) => res.end(body))
  })
  const { port } = await rig.proxy(url, { maxBody: '1KiB' })
  const head = 'PUT / HTTP/1.1\r\nHost: site.test\r\nExpect: 100-continue\r\n'
  const to = connection(port)
  to.send(`${head}Content-Length: 4\r\n\r\n`)
  expect((await to.answer()).status).toBe(100)
  to.send('body')
  const answer = await to.answer()
  expect({ status: answer.status, body: answer.body.toString() }).toEqual({
    status: 200,
    body: 'body',
  })
  expect(seen[0]!.headers).not.toHaveProperty('expect')
  to.socket.destroy()
  expect((await ask(port, `${head}Content-Length: 1025\r\n\r\n`)).status).toBe(413)
})

it('early hints of the origin are passed on, and the answer comes behind them', async () => {
  const { url } = await rig.rawOrigin((socket) =>
    socket.write(
      'HTTP/1.1 103 Early Hints\r\nLink: </a.css>; rel=preload; as=style\r\nKeep-Alive: timeout=9\r\n\r\n' +
        `HTTP/1.1 102 Processing\r\n\r\nHTTP/1.1 199 Whatever\r\n\r\n${ok}`,
    ),
  )
  const { port } = await rig.proxy(url)
  const to = connection(port)
  to.send(get('/'))
  const [hints, processing, answer] = [await to.answer(), await to.answer(), await to.answer()]
  expect(hints.status).toBe(103)
  expect(hints.one('link')).toBe('</a.css>; rel=preload; as=style')
  expect(hints.all('keep-alive')).toEqual([])
  expect(processing.status).toBe(102)
  expect(answer).toMatchObject({ status: 200, whole: true })
  to.socket.destroy()
  // HTTP/1.0 has none (RFC 9110, 15.2).
  const old = await ask(port, 'GET / HTTP/1.0\r\nHost: site.test\r\n\r\n')
  expect(old.status).toBe(200)
})

it('requests that come in one piece are answered in their order', async () => {
  const { url } = await rig.origin((req, res) => {
    const slow = req.url === '/0' ? 50 : 0
    setTimeout(() => res.end(req.url), slow)
  })
  const { port } = await rig.proxy(url)
  const to = connection(port)
  to.send(['/0', '/1', '/2'].map((path) => get(path)).join(''))
  const bodies = []
  for (let n = 0; n < 3; n++) bodies.push((await to.answer()).body.toString())
  expect(bodies).toEqual(['/0', '/1', '/2'])
  to.socket.destroy()
})
