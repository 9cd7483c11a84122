// The same application behind each adapter: a route is a function from a request to what it answers.

import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Readable } from 'node:stream'
import express from 'express'
import express4 from 'express4'
import Fastify, { type FastifyReply } from 'fastify'
import compress from '@fastify/compress'
import { httpCache as forExpress } from '../../../src/adapters/express.ts'
import { httpCache as forFastify } from '../../../src/adapters/fastify.ts'
import {
  httpCache as forNode,
  type HttpCacheOptions,
  type Purges,
} from '../../../src/adapters/http.ts'
import { fetched, hono, type Made } from './fetch.ts'
import { compressedKoa, koa } from './koa.ts'
import { nest } from './nest.ts'

/** What a route sees of the request. */
export interface Seen {
  readonly method: string
  /** As the application sees it. */
  readonly url: string
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
}

/** What it answers. A list of chunks is written one by one; a body that throws breaks off. */
export interface Script {
  readonly status?: number
  readonly statusText?: string
  readonly headers?: Readonly<Record<string, string | readonly string[]>>
  readonly body?: string | Uint8Array | AsyncIterable<string | Uint8Array>
}

export type Route = (seen: Seen) => Script | Promise<Script>

export interface Started extends Purges {
  readonly port: number
  close(): Promise<void>
}

/** All requests go to one route, which tells them apart by URL. */
export type Start = (route: Route, options: HttpCacheOptions) => Promise<Started>

export async function listening(server: Server, purges: Purges): Promise<Started> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    port: (server.address() as AddressInfo).port,
    purge: (url, options) => purges.purge(url, options),
    purgeTags: (tags, options) => purges.purgeTags(tags, options),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

/** Writes what the route says to Node's own response. */
export async function play(req: IncomingMessage, res: ServerResponse, route: Route): Promise<void> {
  const { method = 'GET', url = '/', headers } = req
  const {
    status = 200,
    statusText,
    headers: said = {},
    body = '',
  } = await route({ method, url, headers })
  if (statusText === undefined) res.writeHead(status, said as Record<string, string>)
  else res.writeHead(status, statusText, said as Record<string, string>)
  if (typeof body === 'string' || body instanceof Uint8Array) {
    res.end(body)
    return
  }
  try {
    for await (const chunk of body) {
      if (res.destroyed) return
      if (!res.write(chunk)) {
        await new Promise<void>((resolve) => {
          res.once('drain', resolve)
          res.once('close', resolve)
        })
      }
    }
    res.end()
  } catch {
    res.destroy()
  }
}

const bare: Start = (route, options) => {
  const run = (req: IncomingMessage, res: ServerResponse): void => {
    cached(req, res, () => void play(req, res, route))
  }
  const cached = forNode({ ...options, dispatch: run })
  return listening(createServer(run), cached)
}

function expressLike(make: typeof express): Start {
  return (route, options) => {
    const cached = forExpress(options)
    const app = make()
    app.use(cached)
    app.use((req: IncomingMessage, res: ServerResponse) => void play(req, res, route))
    return listening(createServer(app), cached)
  }
}

/** Of one that gives its server away. */
function served(make: (route: Route, options: HttpCacheOptions) => Made): Start {
  return (route, options) => {
    const { server, purges } = make(route, options)
    return listening(server, purges)
  }
}

/** Its own words, so that its hooks see the answer; a status text is for Node's response alone. */
async function reply(
  { method, url, headers }: Seen,
  answer: FastifyReply,
  route: Route,
): Promise<FastifyReply> {
  const {
    status = 200,
    statusText,
    headers: said = {},
    body = '',
  } = await route({ method, url, headers })
  if (statusText !== undefined) answer.raw.statusMessage = statusText
  answer.code(status).headers(said as Record<string, string>)
  if (typeof body === 'string') return answer.send(body)
  return answer.send(body instanceof Uint8Array ? body : Readable.from(body))
}

function fastify(when: 'compressed before' | 'compressed after' | 'plain'): Start {
  return async (route, options) => {
    const app = Fastify({ forceCloseConnections: true })
    if (when === 'compressed before') await app.register(compress, { threshold: 0 })
    await app.register(forFastify, options)
    if (when === 'compressed after') await app.register(compress, { threshold: 0 })
    app.addContentTypeParser('*', (_request, body, done) => done(null, body))
    const handler = (request: { raw: IncomingMessage }, answer: FastifyReply) =>
      reply(request.raw as Seen, answer, route)
    app.route({ method: ['GET', 'POST', 'PUT', 'DELETE'], url: '/*', handler })
    await app.listen({ port: 0, host: '127.0.0.1' })
    return {
      port: (app.server.address() as AddressInfo).port,
      purge: (url, how) => app.httpCache.purge(url, how),
      purgeTags: (tags, how) => app.httpCache.purgeTags(tags, how),
      close: () => app.close(),
    }
  }
}

export const adapters: Readonly<Record<string, Start>> = {
  'Node’s own server': bare,
  'Express 5': expressLike(express),
  'Express 4': expressLike(express4 as unknown as typeof express),
  Koa: served(koa),
  'Koa with compression further out': served(compressedKoa('outside')),
  'Koa with compression further in': served(compressedKoa('inside')),
  Hono: served(hono),
  Fetch: served(fetched),
  Fastify: fastify('plain'),
  'Fastify, compressed before': fastify('compressed before'),
  'Fastify, compressed after': fastify('compressed after'),
  'Nest on Express': nest('Express'),
  'Nest on Fastify': nest('Fastify'),
}
