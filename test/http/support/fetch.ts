// Routes behind what answers a Request with a Response: Hono, and a bare handler.

import type { Server } from 'node:http'
import { createAdaptorServer } from '@hono/node-server'
import { Hono } from 'hono'
import { withHttpCache } from '../../../src/adapters/fetch.ts'
import { httpCache } from '../../../src/adapters/hono.ts'
import type { HttpCacheOptions, Purges } from '../../../src/adapters/http.ts'
import type { Route } from './apps.ts'

export interface Made {
  readonly server: Server
  readonly purges: Purges
}

export async function played(request: Request, route: Route): Promise<Response> {
  const { method, url } = request
  const headers = Object.fromEntries(request.headers)
  const path = url.slice(url.indexOf('/', 8))
  const {
    status,
    statusText,
    headers: said = {},
    body,
  } = await route({ method, url: path, headers })
  const lines = Object.entries(said).flatMap(([name, value]) =>
    [value].flat().map((line): [string, string] => [name, line as string]),
  )
  const init = { status: status ?? 200, statusText: statusText ?? '', headers: lines }
  if (body === undefined || body === '') return new Response(null, init)
  if (typeof body === 'string' || body instanceof Uint8Array)
    return new Response(body as string, init)
  return new Response(streamOf(body), init)
}

export function streamOf(
  chunks: AsyncIterable<string | Uint8Array>,
): ReadableStream<Uint8Array<ArrayBuffer>> {
  const iterator = chunks[Symbol.asyncIterator]()
  return new ReadableStream({
    async pull(controller) {
      const { done, value } = await iterator.next()
      if (done === true) controller.close()
      else controller.enqueue(Buffer.from(value as string))
    },
    cancel() {
      void iterator.return?.()
    },
  })
}

export function hono(route: Route, options: HttpCacheOptions): Made {
  const app = new Hono()
  const cached = httpCache({ ...options, fetch: (request) => app.fetch(request) })
  app.use(cached)
  app.all('*', (c) => played(c.req.raw, route))
  return { server: createAdaptorServer({ fetch: app.fetch }) as Server, purges: cached }
}

export function fetched(route: Route, options: HttpCacheOptions): Made {
  const cached = withHttpCache((request) => played(request, route), options)
  return { server: createAdaptorServer({ fetch: cached }) as Server, purges: cached }
}
