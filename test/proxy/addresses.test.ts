// What is asked for reaches the origin as it came; what is no address of a page reaches nobody, and what
// has come back is not sent round again.

import { afterEach, expect, it } from 'vitest'
import { proxyRig } from '../support/proxy-rig.ts'
import { ask, connection, get } from '../support/raw-http.ts'

const rig = proxyRig()
afterEach(() => rig.end())

const ok = 'HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n'

it.each([
  '/a//b/../c/./d',
  '/%2e%2e/%2F?a=%20&b[]=1&b[]=2&&=',
  '/?q={}|\\^`"<>;\'',
  '//evil.test/a',
  '/?',
])('the path %s reaches the origin byte by byte', async (path) => {
  const { url, came } = await rig.rawOrigin((socket) => socket.write(ok))
  const { port } = await rig.proxy(url)
  const to = connection(port)
  to.send(Buffer.from(get(path), 'latin1'))
  expect((await to.answer()).status).toBe(200)
  to.socket.destroy()
  expect(came[0]!.split('\r\n')[0]).toBe(`GET ${path} HTTP/1.1`)
})

it('an address that is whole is taken as its path, and its host comes before the field Host', async () => {
  const { url, came } = await rig.rawOrigin((socket) => socket.write(ok))
  const { port } = await rig.proxy(url, { hosts: 'site.test,other.test' })
  await ask(port, 'GET http://other.test?a=1 HTTP/1.1\r\nHost: site.test\r\n\r\n')
  expect(came[0]).toMatch(/^GET \/\?a=1 HTTP\/1\.1\r\nhost: other\.test\r\n/)
})

it.each([
  ['GET ftp://site.test/ HTTP/1.1\r\nHost: site.test\r\n\r\n', 400],
  ['GET http://user:pw@site.test/ HTTP/1.1\r\nHost: site.test\r\n\r\n', 400],
  ['GET * HTTP/1.1\r\nHost: site.test\r\n\r\n', 400],
  // Not of an address (RFC 3986): a browser sends them as %C3%A4.
  ['GET /\xc3\xa4 HTTP/1.1\r\nHost: site.test\r\n\r\n', 400],
  ['GET / HTTP/1.1\r\n\r\n', 400],
  ['GET / HTTP/1.1\r\nHost: site.test\r\nHost: other.test\r\n\r\n', 400],
  ['TRACE / HTTP/1.1\r\nHost: site.test\r\n\r\n', 405],
  ['CONNECT other.test:443 HTTP/1.1\r\nHost: other.test:443\r\n\r\n', 405],
  ['OPTIONS * HTTP/1.1\r\nHost: site.test\r\n\r\n', 204],
  ['OPTIONS / HTTP/1.1\r\nHost: site.test\r\nMax-Forwards: 0\r\n\r\n', 204],
])('%j is answered with %i and does not reach the origin', async (request, status) => {
  const { url, came } = await rig.rawOrigin((socket) => socket.write(ok))
  const { port } = await rig.proxy(url)
  expect(await ask(port, request)).toMatchObject({ status })
  expect(came).toEqual([])
})

it('Max-Forwards of an OPTIONS is one less behind the proxy', async () => {
  const { url, came } = await rig.rawOrigin((socket) => socket.write(ok))
  const { port } = await rig.proxy(url)
  await ask(port, 'OPTIONS /a HTTP/1.1\r\nHost: site.test\r\nMax-Forwards: 3\r\n\r\n')
  expect(came[0]).toMatch(/^OPTIONS \/a .*\r\nmax-forwards: 2\r\n/s)
})

it('a proxy that is pointed at itself says so, and does not wait for itself', async () => {
  // Its own address is known only when it runs: through another one, which passes on to it.
  const { url } = await rig.rawOrigin((socket, head) => {
    const to = connection(port)
    to.send(head.replace(/\r\n\r\n$/, '\r\nConnection: close\r\n\r\n'))
    to.socket.pipe(socket)
  })
  const { port } = await rig.proxy(url)
  const answer = await ask(port, get('/loop'))
  expect(answer.status).toBe(508)
})
