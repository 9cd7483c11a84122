// Node's HTTP/2, whose requests and responses look like those of HTTP/1 and are not.

import { once } from 'node:events'
import { connect, createServer, type Http2Server, type IncomingHttpHeaders } from 'node:http2'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import Koa from 'koa'
import { afterEach, describe, expect, it } from 'vitest'
import { httpCache as forNode } from '../../src/adapters/http.ts'
import { httpCache as forKoa } from '../../src/adapters/koa.ts'
import { createCache, type Cache } from '../../src/index.ts'

type Listener = (req: IncomingMessage, res: ServerResponse) => void

const open: { close(): unknown }[] = []
const warnings: Error[] = []
const onWarning = (warning: Error): void => void warnings.push(warning)
afterEach(async () => {
  process.off('warning', onWarning)
  for (const one of open.splice(0).toReversed()) await one.close()
})

const servers: Readonly<Record<string, (cache: Cache, run: () => string) => Listener>> = {
  'Node’s own server': (cache, run) => {
    const cached = forNode({ cache })
    return (req, res) => cached(req, res, () => res.end(run()))
  },
  Koa: (cache, run) => {
    const callback = new Koa()
      .use(forKoa({ cache }))
      .use((ctx) => {
        ctx.body = run()
      })
      .callback()
    return (req, res) => void callback(req, res)
  },
}

describe.each(Object.entries(servers))('%s over HTTP/2', (_, make) => {
  it('answers from what is kept, conditions too, and warns of nothing', async () => {
    process.on('warning', onWarning)
    const cache = createCache({ namespace: 'http2', ttl: '60s' })
    let runs = 0
    const listener = make(cache, () => `run ${++runs}`)
    const server: Http2Server = createServer(
      listener as unknown as Parameters<typeof createServer>[1],
    )
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    const session = connect(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
    open.push(cache, server, session)
    const read = async (fields: IncomingHttpHeaders = {}) => {
      const stream = session.request({ ':path': '/', ...fields })
      const [head] = (await once(stream, 'response')) as [IncomingHttpHeaders]
      let body = ''
      for await (const chunk of stream.setEncoding('utf8')) body += String(chunk)
      return [head[':status'], head['cache-status'], body]
    }
    const first = await read({ 'if-none-match': '"0"' })
    expect([first[0], first[2]]).toEqual([200, 'run 1'])
    expect(await read()).toEqual([200, expect.stringMatching(/hit/), 'run 1'])
    expect((await read({ ':method': 'HEAD' }))[0]).toBe(200)
    expect(runs).toBe(1)
    expect(warnings).toEqual([])
  })
})
